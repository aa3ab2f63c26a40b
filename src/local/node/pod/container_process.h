// How a process of a container is started, and how its end is reported: the same for its program,
// for an exec in it, and for the code that is fetched before it.
#pragma once

#include <string>
#include <vector>

#include "local/node/pod/pod_spec.h"
#include "process/rights.h"

namespace local::node {

// The environment of a container as execve takes it, including the pod's uid: later entries win.
std::vector<std::string> ContainerEnvironment(const PodSpec& pod, const ContainerSpec& spec);

// The rights that this process has to give up, given that its view may have made it another user.
process::Rights RightsHere(process::Rights rights);

// How the end is reported: the exit code or 128 + signal; Completed, Error or OOMKilled.
ContainerState DescribeEnd(int wait_status, bool is_oom_killed);

}  // namespace local::node
