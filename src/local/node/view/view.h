// Puts this process, and what it starts from now on, into the pod's view of the machine.
#pragma once

#include "base/result.h"
#include "local/node/plan/pod_spec.h"

namespace local::node {

// Whether the pod needs anything that the machine does not show as it is.
bool NeedsView(const PodSpec& spec);

// Single-threaded processes only. Code kPermissionDenied with a message that names what forbids
// namespaces here and what to do; other errors name the mount that failed.
base::Status EnterView(const PodSpec& spec);

}  // namespace local::node
