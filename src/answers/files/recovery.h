// Whether a job that met failures went on and succeeded, for the Sorter.
#pragma once

#include <string_view>

#include "answers/files/file.h"

namespace answers {

// After this line, PyTorch's agent, or Ray Train's controller, starts all ranks again.
bool IsRestart(std::string_view line);

bool HasRayFinished(const File& file);

// Whether the agent says that a later attempt of its workers succeeded, and with it the job.
bool HasRecovered(const File& file);

// Whether the tests of all processes in the file have passed: the last line is not only that of one
// of several.
bool HavePassedTests(const File& file);

// Whether the file's last line says that the training has finished, and ranks worked on after the
// last traceback: they have not lost the one that printed it.
bool HasFinishedTraining(const File& file);

}  // namespace answers
