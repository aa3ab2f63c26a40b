// What the machine reports about a failed program: its kernel's log, and full file systems. The
// kernel's log can be read by root, or if kernel.dmesg_restrict is 0.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "answers/evidence.h"
#include "base/clock.h"

namespace witness {

// Names a folder that replaces "/" when dev/kmsg is looked for.
inline constexpr const char* kWitnessRootVariable = "MUSTER_WITNESS_ROOT";

class Machine {
 public:
  // To be created before the program starts. `root`: as kWitnessRootVariable has it; "" is "/".
  explicit Machine(std::string root);

  // The records of the kernel's log since then: out-of-memory kills, refused forks and the like,
  // failures of disks and, with `has_gpus`, of GPUs and their links; at most 16. They may be about
  // other programs: a record names its process.
  std::vector<answers::Fact> KernelSays(bool has_gpus, base::Time now) const;
  // "Operation not permitted": why it says nothing to this user; "" if it can be read.
  std::string WhyKernelIsSilent() const;

 private:
  const std::string kernel_log_;
  const std::chrono::microseconds begin_;  // since boot
};

// The file systems of `folders` that are full: no bytes are left, or no inodes. Each once.
std::vector<answers::Fact> FullFileSystems(const std::vector<std::string>& folders, base::Time now);

}  // namespace witness
