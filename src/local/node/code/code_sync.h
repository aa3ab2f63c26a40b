// Fetches a job's code into its pods, as the git-sync and rsync init containers do on Kubernetes,
// with the `git` and `rsync` programs of this machine.
#pragma once

#include "local/node/pod/pod_spec.h"

namespace local::node {

// Runs in a process of its own; prints progress and errors to stdout and stderr, without secrets.
// Returns the exit code. `spec.kind` is kGitSync or kRsync.
int RunCodeSync(const PodSpec& pod, const ContainerSpec& spec);

}  // namespace local::node
