// What process groups report about other ranks, and what NCCL's watchdogs of several ranks report
// together; and whose NCCL's own lines are.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "answers/evidence.h"

namespace answers {

// "Rank 3]" in a line of NCCL's process group, counted in the whole job; nullopt for another line,
// or if it is counted in a group of its own.
std::optional<int> RankOfWatchdog(std::string_view line);

// The first rank that did not arrive, from "Ranks 2, 5 failed to pass monitoredBarrier in 30000
// ms", or that was gone, from "rank 1 had ended with exit code 0 while rank 0 still waited". The
// only one in Horovod's "x [missing ranks: 1]", "... . Missing ranks: 1" and torchfrtrace's
// "missing ranks: {1}". The one whose ncclUniqueId did not come in time; nullopt if `asker`, the
// rank whose line it is, has another number in its group.
std::optional<int> MissingAtBarrier(std::string_view line, std::optional<int> asker);

struct Watchdogs {
  // Two ranks had different calls under the same number of the same group: the call in which each
  // waited.
  std::string one, other;
  // The only one that waited in another of these two calls than most ranks, three or more.
  std::optional<int> odd;
  // The rank that had not entered the call in which others waited, that waited in an earlier one,
  // or that said it was done while all others waited, and the line that shows it; unset if several
  // were equally late. Otherwise the line of the first that waited.
  std::optional<int> behind;
  std::string line;
};

// From the lines "Watchdog caught collective operation timeout: WorkNCCL(...)" and "last enqueued
// NCCL work: ..." of all ranks. Pure.
Watchdogs ReadWatchdogs(const Evidence& evidence);

// "gpu-1:311:402 [3] misc/socket.cc:49 NCCL WARN ...": the host, the process, its thread, and the
// device that it uses (NCCL's debug.cc).
struct NcclPrefix {
  std::string_view host;
  int process = 0;
  int device = 0;
};

// Nullopt for another line.
std::optional<NcclPrefix> ReadNcclPrefix(std::string_view line);

// The devices that the processes in these lines use, if a device's number is its process's rank
// within the host: there is one host, with several processes, each with a device of its own. Empty
// otherwise. Pure.
std::set<int> DevicesOfProcesses(std::span<const std::string_view> lines);

}  // namespace answers
