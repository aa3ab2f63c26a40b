// Tells whether a process that died of SIGKILL was an out-of-memory kill by the kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace local::node {

// To be created before the process starts.
class OomWatch {
 public:
  OomWatch();
  // Whether the kernel has made an out-of-memory kill since; with a pid, only if the kernel's log,
  // when readable, names it.
  bool HasKilled(std::optional<pid_t> pid) const;

 private:
  uint64_t before_;
};

// The sum of `oom_kill` in this process's memory cgroup (v2 memory.events, v1 memory.oom_control).
uint64_t CgroupOomKills();

// `oom_kill` in such a file; 0 when it cannot be read.
uint64_t OomKillsIn(const std::string& path);

// Whether a kernel log record says that `pid` was killed: "Out of memory: Killed process 42 (x)".
bool NamesOomVictim(std::string_view record, pid_t pid);

}  // namespace local::node
