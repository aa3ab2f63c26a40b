// Finds the processes of a pod when no shim can be asked. A process cannot leave its cgroup and its
// view of the machine. Where the pod has neither, its processes are recognised by environment and
// session, although a process can change those.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "local/node/pod/pod_spec.h"
#include "process/procfs.h"

namespace local::node {

// A variable of every process of a pod: the pod's uid.
inline constexpr std::string_view kPodUidVariable = "MUSTER_POD_UID";

// The mount source of the root of the pod's view.
std::string ViewSource(std::string_view pod_uid);
// The last component of the pod's cgroup, if it has one.
std::string PodCgroupName(std::string_view pod_uid);

class PodProcesses {
 public:
  PodProcesses(std::string_view pod_uid, std::vector<PodSession> sessions);

  // All of the pod's processes that this user may see, except for zombies and processes that the
  // kernel is removing.
  std::vector<pid_t> Find();
  bool Has(pid_t pid);

 private:
  bool HasView(pid_t pid);
  bool IsInSession(const process::ProcessStat& stat) const;

  const std::string variable_;
  const std::string view_;
  const std::string cgroup_;
  const std::vector<PodSession> sessions_;
  const std::string own_namespace_;
  std::map<std::string, bool> views_;  // by mount namespace: whether it belongs to the pod
};

}  // namespace local::node
