// What the machine tells of a container that has failed: for the end of its log.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "local/node/pod/pod_spec.h"
#include "witness/machine.h"

namespace local::node {

// Borrows the specifications.
class Witnesses {
 public:
  // To be created before the container starts.
  Witnesses(const PodSpec& pod, const ContainerSpec& container);

  // Lines (answers/witness_line.h) with what the kernel says of its program, the out-of-memory
  // kills in its cgroup, and the file systems that are full: of its working folder, its mounts,
  // /tmp and /dev/shm. `words`: its last ones. Blocks while it looks.
  std::vector<std::string> Lines(pid_t pid, std::string_view words, base::Time now) const;

 private:
  const PodSpec& pod_;
  const ContainerSpec& container_;
  const witness::Machine machine_;
  const uint64_t oom_kills_before_;
};

}  // namespace local::node
