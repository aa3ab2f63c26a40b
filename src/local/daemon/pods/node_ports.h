// Services of type NodePort have their ports here: assigned when they are written, locked
// machine-wide for as long as they exist.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "local/node/devices/ports.h"
#include "text/json.h"

namespace local::daemon {

// Gives every port of a Service that wants one of the machine's and has none the port that it had
// in `old` (nullptr: it is new), else a free one. Does nothing to other Services.
base::Status AssignNodePorts(node::PortAllocator& ports, const text::Json* old,
                             text::Json& service);

// Keeps the locks in step with the Services.
class NodePortKeeper {
 public:
  // Starts its thread. Everything is borrowed and outlives it.
  NodePortKeeper(cluster::Client& client, node::PortAllocator& ports);

 private:
  void Put(const text::Json& service);
  void Remove(const std::string& uid);

  node::PortAllocator& ports_;
  // By uid of the Service; the reflector's thread only.
  std::map<std::string, std::set<std::string>> keys_;
  std::unique_ptr<cluster::Reflector> reflector_;
};

}  // namespace local::daemon
