// Which processes of this machine are a pod's, for when no shim can be asked. What a program cannot
// leave behind tells: its cgroup and its view of the machine; what it can, its environment and its
// session, tells where the pod has neither.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "local/node/plan/pod_spec.h"
#include "process/procfs.h"

namespace local::node {

// Variable that every process of a pod carries, with the pod's uid.
inline constexpr std::string_view kPodUidVariable = "MUSTER_POD_UID";

// What the root of the pod's view is mounted from.
std::string ViewSource(std::string_view pod_uid);
// The last part of the name of the pod's cgroup, where it has one.
std::string PodCgroupName(std::string_view pod_uid);

class PodProcesses {
 public:
  PodProcesses(std::string_view pod_uid, std::vector<PodSession> sessions);

  // Of them all, as far as this user may see them; zombies and what is already on its way out of
  // the kernel are none.
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
  std::map<std::string, bool> views_;  // by mount namespace: whether it is the pod's
};

}  // namespace local::node
