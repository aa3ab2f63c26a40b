// What processes hold of the machine's memory that only their end gives back.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace local::node {

// Anonymous and shared memory of all of them, in bytes, pages that several map counted once. Asks
// the kernel to count only where more than `enough` could come out: below that it is an upper
// bound. Processes that are gone, or may not be asked about, count 0.
int64_t MemoryOf(const std::vector<pid_t>& pids, int64_t enough);

// How long nobody has to look again: what is left of `limit` cannot be filled sooner. Looking took
// `cost`, and is to be a small part of all that happens.
std::chrono::milliseconds UntilNextLook(int64_t used, int64_t limit, std::chrono::nanoseconds cost);

// "1.5 GiB", "200 MiB".
std::string FormatMemory(int64_t bytes);

// From the text of /proc/<pid>/status and of /proc/<pid>/smaps_rollup.
int64_t ResidentIn(const std::string& status);
int64_t ProportionalIn(const std::string& rollup);

}  // namespace local::node
