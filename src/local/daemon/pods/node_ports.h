// The machine's ports for Services of type NodePort: assigned when a Service is written, and locked
// machine-wide while it exists.
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

// Assigns a port to every entry of a Service that needs one and has none: the port that it had in
// `old` (nullptr: it is new), otherwise a free one. Leaves other Services alone.
base::Status AssignNodePorts(node::PortAllocator& ports, const text::Json* old,
                             text::Json& service);

// Holds the locks of the Services that exist.
class NodePortKeeper {
 public:
  // Starts its thread. Everything is borrowed and must outlive it.
  NodePortKeeper(cluster::Client& client, node::PortAllocator& ports);

 private:
  void Put(const text::Json& service);
  void Remove(const std::string& uid);

  node::PortAllocator& ports_;
  // By uid of the Service; used by the reflector's thread only.
  std::map<std::string, std::set<std::string>> keys_;
  std::unique_ptr<cluster::Reflector> reflector_;
};

}  // namespace local::daemon
