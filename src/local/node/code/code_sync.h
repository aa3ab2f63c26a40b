// Bringing a job's code into its pods: what the git-sync and rsync init containers do on
// Kubernetes, by the `git` and `rsync` programs of this machine.
#pragma once

#include "local/node/plan/pod_spec.h"

namespace local::node {

// In a process of its own; prints progress and errors to stdout and stderr, secrets removed.
// Returns the exit code. `spec.kind` is kGitSync or kRsync.
int RunCodeSync(const PodSpec& pod, const ContainerSpec& spec);

}  // namespace local::node
