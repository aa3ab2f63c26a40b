// What the machine reports about a failed container, for the end of its log.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "local/node/pod/pod_spec.h"
#include "witness/machine.h"
#include "witness/near_limits.h"

namespace local::node {

// Borrows the specifications.
class Witnesses {
 public:
  // To be created before the container starts.
  Witnesses(const PodSpec& pod, const ContainerSpec& container);

  // While the program runs; rarely does any work (witness/near_limits.h).
  void Look(pid_t pid, base::Clock& clock);

  // Lines (answers/witness_line.h) with what the kernel says about the container's program, the
  // out-of-memory kills in its cgroup, and which file systems are full, of its working folder, its
  // mounts, /tmp and /dev/shm; or that the kernel's log, which could decide, cannot be read; and
  // where its ranks have crashed since it `began`. What the last look has seen comes first.
  // `words`: the program's last ones. Blocks while it looks.
  std::vector<std::string> Lines(pid_t pid, int exit_code, std::string_view words, base::Time began,
                                 base::Time now) const;

 private:
  const PodSpec& pod_;
  const ContainerSpec& container_;
  const std::vector<std::string> folders_;
  const witness::Machine machine_;
  witness::NearLimits near_limits_;
  const uint64_t oom_kills_before_;
};

}  // namespace local::node
