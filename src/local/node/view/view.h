// Moves this process, and its future children, into the pod's view of the machine.
#pragma once

#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

// Whether the pod needs a view that differs from the machine.
bool NeedsView(const PodSpec& spec);

// For single-threaded processes only. kPermissionDenied names what forbids namespaces here, and
// what to do; other errors name the mount that failed.
base::Status EnterView(const PodSpec& spec);

}  // namespace local::node
