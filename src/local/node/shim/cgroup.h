// Limits on a pod's memory and CPUs by cgroup v2, where this user may make one: root below the
// mount's root, others in a scope that systemd's user manager delegates to them.
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
#include "local/node/plan/pod_spec.h"

namespace local::node {

// Where pods of this user may have cgroups, and what of.
struct CgroupPlace {
  enum class Kind { kNone, kOwnTree, kUserScope };
  Kind kind = Kind::kNone;
  std::string mount;  // of the cgroup v2 file system
  bool has_memory = false;
  bool has_cpu = false;
  std::string why;  // what is missing, for people; "" when both are there
};

// `root`: where proc/ and the mounts are looked for ("" is the machine's own; tests have theirs).
CgroupPlace FindCgroupPlace(uid_t user, const base::Environment& environment,
                            const std::string& root = "");

// The command that starts `command` in a scope of the pod's own, delegated to its user.
std::vector<std::string> InUserScope(std::string_view pod_uid, std::vector<std::string> command);

// In the shim: makes a cgroup for each limited container and says so in its `cgroup`. Those of
// podman have podman's. What cannot be made is not, and why is returned; the container runs on
// without.
base::Status MakeCgroups(PodSpec& spec);
// What MakeCgroups made in a tree of root's; nothing where something still runs in them.
void RemoveCgroups(const std::string& mount, std::string_view pod_uid);

// Whether the container's cgroup holds it to its memory.
bool IsMemoryLimited(const ContainerSpec& container);
// How often the kernel has killed in a cgroup for want of memory.
uint64_t OomKillsOf(const std::string& cgroup);

}  // namespace local::node
