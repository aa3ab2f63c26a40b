// Finds the process that failed in what Open MPI, MPICH and Intel MPI write at a job's end.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "answers/log/launcher_words.h"

namespace answers {

// The rank that ended the job, in the message that begins in line `at`. It has no exit code if it
// called MPI_Abort with 0. Pure.
std::optional<LauncherRow> ReadMpiAbort(const std::vector<std::string_view>& lines, size_t at);

// The process in the block that begins in line `at`, of Hydra, the launcher of MPICH and Intel MPI.
// It has no rank if Hydra does not name it. Pure.
std::optional<LauncherRow> ReadHydra(const std::vector<std::string_view>& lines, size_t at);

}  // namespace answers
