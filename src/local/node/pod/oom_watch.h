// Finds out whether the kernel killed a process that died of SIGKILL because memory ran out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
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

// Whether a kernel log record says that `pid` was killed: "Out of memory: Killed process 42 (x)".
bool NamesOomVictim(std::string_view record, pid_t pid);

}  // namespace local::node
