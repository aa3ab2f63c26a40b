// Services of type NodePort: which port of this machine a pod is reached at. Pods share the
// machine's network, so a pod listens on that port itself.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "text/json.h"

namespace local::node {

struct NodePort {
  std::string key;  // for the PortAllocator: of the Service and its port
  int port = 0;     // on this machine; 0 while none is assigned

  bool operator==(const NodePort&) const = default;
};

// Whether the Service wants ports of the machine: type NodePort or LoadBalancer.
bool WantsNodePorts(const text::Json& service);
// One for each entry of spec.ports, in order; empty when the Service wants none.
std::vector<NodePort> NodePortsOf(const text::Json& service);

// The ports of the Services that select the pod and have a port, by the pod's port.
std::map<int, NodePort> NodePortsOfPod(const text::Json& pod,
                                       const std::vector<text::Json>& services);

}  // namespace local::node
