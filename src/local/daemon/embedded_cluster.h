// The parts of the embedded cluster that its API joins: store and API server, node agent, scheduler
// and controllers. What connects them with the machine (sockets, GPUs, warm starts, notifications)
// is the daemon's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cluster/client.h"
#include "controller/loop/controller.h"
#include "local/daemon/admission.h"
#include "local/daemon/deployments/deployments.h"
#include "local/daemon/event_janitor.h"
#include "local/daemon/pods/node_ports.h"
#include "local/daemon/pods/pod_logs.h"
#include "local/daemon/scheduling/scheduling.h"
#include "local/node/agent/agent.h"
#include "local/node/agent/lost_and_found.h"
#include "local/node/agent/shims.h"
#include "local/node/devices/gpu.h"
#include "local/node/devices/ports.h"
#include "local/server/routing/api_server.h"

namespace local::daemon {

struct ClusterOptions {
  std::string state;     // folder
  std::string database;  // file
  // Called before the store is opened, which then uses the connection that this has opened.
  std::function<base::Result<std::optional<store::Database>>(node::LostAndFound&)> check_store;
  AdmissionDefaults defaults;
  // `clock`, `admission`, `log_source`, `notices` and `store_reserve` are the cluster's own.
  server::ApiServer::Options server;
  // `state_directory` and `fate_of` are the cluster's own, and a stored name of the node goes
  // before the machine's.
  node::AgentOptions agent;
  SchedulingOptions scheduling;  // `node_name` is the cluster's own
};

// Its parts end in the reverse order of their start. Requests must have ended or been abandoned
// when it is destroyed.
class EmbeddedCluster {
 public:
  // Starts everything but GPU discovery. Everything but the options is borrowed.
  static base::Result<std::unique_ptr<EmbeddedCluster>> Start(node::ShimLauncher& shims,
                                                              node::GpuAllocator& gpus,
                                                              node::PortAllocator& ports,
                                                              base::Clock& clock,
                                                              ClusterOptions options);

  // Callable from any thread.
  server::ApiServer& api() { return *api_; }
  cluster::Client& client() { return *client_; }
  node::LostAndFound& lost() { return lost_; }
  // The store's version before any part changed something.
  int64_t first_version() const { return first_version_; }
  node::Agent& agent() { return *agent_; }
  Scheduling& scheduling() { return *scheduling_; }
  const std::string& node_name() const { return node_name_; }
  base::Result<node::Fate> FateOf(const std::string& uid);

 private:
  explicit EmbeddedCluster(const std::string& state) : lost_(state) {}
  base::Status OpenApi(node::PortAllocator& ports, base::Clock& clock, ClusterOptions& options);
  base::Status StartParts(node::ShimLauncher& shims, node::GpuAllocator& gpus,
                          node::PortAllocator& ports, base::Clock& clock, ClusterOptions& options);

  node::LostAndFound lost_;
  int64_t first_version_ = 0;
  std::string node_name_;
  std::unique_ptr<PodLogs> logs_;
  std::unique_ptr<server::ApiServer> api_;
  std::unique_ptr<cluster::Client> client_;
  std::unique_ptr<node::Agent> agent_;
  std::unique_ptr<Scheduling> scheduling_;
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<NodePortKeeper> node_ports_;
  std::unique_ptr<Deployments> deployments_;
  std::unique_ptr<EventJanitor> janitor_;
};

}  // namespace local::daemon
