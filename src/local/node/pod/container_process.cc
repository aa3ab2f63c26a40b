#include "local/node/pod/container_process.h"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "local/node/pod/pod_processes.h"

namespace local::node {

std::vector<std::string> ContainerEnvironment(const PodSpec& pod, const ContainerSpec& spec) {
  EnvList env = spec.env;
  env.emplace_back(kPodUidVariable, pod.uid);
  std::vector<std::string> entries;
  for (size_t i = 0; i < env.size(); ++i) {
    const bool is_replaced =
        std::any_of(env.begin() + static_cast<std::ptrdiff_t>(i) + 1, env.end(),
                    [&](const auto& later) { return later.first == env[i].first; });
    if (!is_replaced) entries.push_back(env[i].first + "=" + env[i].second);
  }
  return entries;
}

process::Rights RightsHere(process::Rights rights) {
  if (rights.group == ::getgid()) rights.group.reset();
  if (rights.user == ::getuid()) {
    rights.user.reset();
  } else if (rights.user && !rights.group) {
    // As in Kubernetes: the user's own group, or root's for an unknown user.
    const passwd* const known = ::getpwuid(*rights.user);
    rights.group = known != nullptr ? known->pw_gid : 0;
  }
  return rights;
}

ContainerState DescribeEnd(int wait_status, bool is_oom_killed) {
  ContainerState state;
  state.phase = ContainerState::Phase::kTerminated;
  if (WIFSIGNALED(wait_status)) {
    state.signal = WTERMSIG(wait_status);
    state.exit_code = 128 + state.signal;
  } else {
    state.exit_code = WEXITSTATUS(wait_status);
  }
  state.reason = is_oom_killed ? "OOMKilled" : state.exit_code == 0 ? "Completed" : "Error";
  return state;
}

}  // namespace local::node
