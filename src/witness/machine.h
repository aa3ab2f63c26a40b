// What the machine tells of a program that has failed: its kernel's log, and file systems that are
// full. The kernel's log can be read by root, or where kernel.dmesg_restrict is 0.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "answers/evidence.h"
#include "base/clock.h"

namespace witness {

// Names a folder in which dev/kmsg is looked for instead of "/".
inline constexpr const char* kWitnessRootVariable = "MUSTER_WITNESS_ROOT";

class Machine {
 public:
  // To be created before the program starts. `root`: as kWitnessRootVariable has it; "" is "/".
  explicit Machine(std::string root);

  // Of the kernel's log since then: kills for want of memory, refused forks and the like, failures
  // of disks, and with `has_gpus` those of GPUs and their links, at most 16 records. Of others'
  // programs, too: a record names whom it is about.
  std::vector<answers::Fact> KernelSays(bool has_gpus, base::Time now) const;
  // "Operation not permitted": why it says nothing to this user; "" if it can be read.
  std::string WhyKernelIsSilent() const;

 private:
  const std::string kernel_log_;
  const std::chrono::microseconds begin_;  // since boot
};

// Those file systems of `folders` on which nobody can write much more: no bytes are left, or no
// inodes. Each once.
std::vector<answers::Fact> FullFileSystems(const std::vector<std::string>& folders, base::Time now);

}  // namespace witness
