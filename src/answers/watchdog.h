// What process groups tell of other ranks, and NCCL's watchdogs of several together.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "answers/evidence.h"

namespace answers {

// "Rank 3]" of a line of NCCL's process group, as the whole job counts; nullopt of another line, or
// where a group of its own counts.
std::optional<int> RankOfWatchdog(std::string_view line);

// The first rank that did not come, of "Ranks 2, 5 failed to pass monitoredBarrier in 30000 ms".
std::optional<int> MissingAtBarrier(std::string_view line);

struct Watchdogs {
  // Two ranks had different calls under the same number of the same group: what each waited in.
  std::string one, other;
  // Who had not entered the call that others waited in, or waited in an earlier one, and the line
  // that tells; unset when several were as far behind. Else the line of the first that waited.
  std::optional<int> behind;
  std::string line;
};

// Of the lines "Watchdog caught collective operation timeout: WorkNCCL(...)" and "last enqueued
// NCCL work: ..." of all ranks. Pure.
Watchdogs ReadWatchdogs(const Evidence& evidence);

}  // namespace answers
