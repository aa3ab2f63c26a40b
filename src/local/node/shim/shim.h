// `muster shim`: the process that runs a pod (pod/shim_client.h says what others see of it).
#pragma once

namespace local::node {

// Reads the PodSpec from kSpecFd as JSON and runs the pod; returns the exit status.
int ShimMain();

}  // namespace local::node
