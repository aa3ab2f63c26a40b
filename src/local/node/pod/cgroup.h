// Limits of a pod's memory and CPUs by cgroup v2, where this user may create cgroups: root below
// the mount's root, others in a scope that systemd's user manager delegates to them.
//
//   <mount>/muster/muster-pod-<uid>/<container>          root
//   .../app.slice/muster-pod-<uid>.scope/<container>     others; the shim is in <scope>/shim
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

// Where pods of this user may have cgroups, and for which resources.
struct CgroupPlace {
  enum class Kind { kNone, kOwnTree, kUserScope };
  Kind kind = Kind::kNone;
  std::string mount;  // of the cgroup v2 file system
  bool has_memory = false;
  bool has_cpu = false;
  std::string why;  // what is missing, for the user; "" when both controllers are available
};

// `root`: where to look for proc/ and the mounts ("": the machine's own; tests use others).
CgroupPlace FindCgroupPlace(uid_t user, const base::Environment& environment,
                            const std::string& root = "");

// The command that starts `command` in a scope for the pod, delegated to its user.
std::vector<std::string> InUserScope(std::string_view pod_uid, std::vector<std::string> command);

// Called in the shim: creates a cgroup for each limited container and sets its `cgroup`. Podman
// creates those of its containers. Returns why a cgroup cannot be created; the container then runs
// without one.
base::Status MakeCgroups(PodSpec& spec);
// Removes what MakeCgroups created in root's tree, unless processes still run there.
void RemoveCgroups(const std::string& mount, std::string_view pod_uid);

// Whether the container's cgroup enforces its memory limit.
bool IsMemoryLimited(const ContainerSpec& container);
// How many out-of-memory kills the kernel has counted in a cgroup.
uint64_t OomKillsOf(const std::string& cgroup);

}  // namespace local::node
