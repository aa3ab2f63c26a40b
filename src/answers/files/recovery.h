// Whether a job that met failures went on and succeeded, for the Sorter.
#pragma once

#include <optional>
#include <string_view>

#include "answers/files/file.h"

namespace answers {

// After this line, PyTorch's agent, or Ray Train's controller, starts all ranks again.
bool IsRestart(std::string_view line);

// The rank whose end made muster-launch start all ranks again: "muster-launch: rank 1 (pid 7)
// failed, SIGKILL: restart 1 of 3". Nullopt for another line.
struct RestartedRank {
  int rank = 0;
  int exit_code = 0;  // as containers report it: 128 + a signal
};
std::optional<RestartedRank> ReadRestart(std::string_view line);

bool HasRayFinished(const File& file);

// Whether the agent says that a later attempt of its workers succeeded, and with it the job.
bool HasRecovered(const File& file);

// Whether a log of all ranks ends with a trainer's words that it has made all its steps, several of
// them below the last word about a failure, and no launcher says that a process failed.
bool HasTrainedToTheEnd(const File& file);

// Whether the tests of all processes in the file have passed: the last line is not only that of one
// of several.
bool HavePassedTests(const File& file);

}  // namespace answers
