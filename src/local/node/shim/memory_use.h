// How much memory of processes is released only when they end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace local::node {

// Anonymous and shared memory of all of them, in bytes, with shared pages counted once. Asks the
// kernel for an exact count only when the result may exceed `enough`; otherwise the result is an
// upper bound. Processes that are gone, or that may not be examined, count 0.
int64_t MemoryOf(const std::vector<pid_t>& pids, int64_t enough);

// How long until the next check: the rest of `limit` cannot be filled sooner. The check took
// `cost`, which is to stay a small part of the time.
std::chrono::milliseconds UntilNextLook(int64_t used, int64_t limit, std::chrono::nanoseconds cost);

// "1.5 GiB", "200 MiB".
std::string FormatMemory(int64_t bytes);

// From the text of /proc/<pid>/status and of /proc/<pid>/smaps_rollup.
int64_t ResidentIn(const std::string& status);
int64_t ProportionalIn(const std::string& rollup);

}  // namespace local::node
