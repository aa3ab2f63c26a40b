#include "local/daemon/embedded_cluster.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/resources.h"
#include "cluster/transport.h"
#include "local/daemon/node_name.h"

namespace local::daemon {
namespace {

bool IsDryRun(const net::HttpRequest& request) {
  const auto target = net::ParseTarget(request.target);
  return target && !target->Query("dryRun").empty();
}

server::Admission MakeAdmission(AdmissionDefaults defaults, node::PortAllocator& ports) {
  return [defaults = std::move(defaults), &ports](
             server::Operation operation, const api::Resource& resource,
             const net::HttpRequest& request, text::Json& object,
             const text::Json* old) -> base::Result<std::vector<std::string>> {
    if (&resource == &api::kPersistentVolumeClaims) AdmitClaim(object);
    if (&resource == &api::kServices && !IsDryRun(request)) {
      TRY(AssignNodePorts(ports, old, object));
    }
    if (&resource == &api::kPyTorchJobs) TRY(CheckProcesses(defaults.bound, object, old));
    if (operation != server::Operation::kCreate) return std::vector<std::string>();
    return AdmitCreate(resource, request.headers, defaults, object);
  };
}

controller::Options ControllerOptions(node::PortAllocator& ports, node::Agent& agent) {
  controller::Options options;
  // Pods share the machine's network: their hosts file has the master's name from the start.
  options.reconcile.init_container = false;
  options.reconcile.ends_pods_in_place = true;
  options.reconcile.success_grace = std::chrono::seconds(10);
  options.assign_master_port = [&ports](const std::string& uid, std::optional<int> existing,
                                        std::optional<int> wanted) {
    return ports.Assign(uid, existing, wanted);
  };
  options.release_master_port = [&ports](const std::string& uid) { ports.Release(uid); };
  options.job_deleted = [&agent](const std::string& uid) { agent.JobGone(uid); };
  return options;
}

// So that the first command finds the node; the agent maintains it. Its name: the stored one first,
// so that the pods in the state stay on this machine.
base::Result<std::string> RegisterNode(cluster::Client& client, const std::string& state,
                                       node::Machine machine, base::Time now) {
  TRY_ASSIGN(const cluster::ObjectList nodes, client.List(api::kNodes, {}));
  std::vector<std::string> stored;
  for (const text::Json& node : nodes.items) stored.emplace_back(api::Name(node));
  TRY_ASSIGN(machine.node_name, KeepNodeName(state, stored, machine.node_name));
  if (std::find(stored.begin(), stored.end(), machine.node_name) != stored.end()) {
    return machine.node_name;
  }
  const auto made = client.Create(api::kNodes, "", node::MakeNode(machine, now));
  if (!made && made.error().code != base::Code::kAlreadyExists) return base::Fail(made.error());
  return machine.node_name;
}

}  // namespace

base::Result<std::unique_ptr<EmbeddedCluster>> EmbeddedCluster::Start(node::ShimLauncher& shims,
                                                                      node::GpuAllocator& gpus,
                                                                      node::PortAllocator& ports,
                                                                      base::Clock& clock,
                                                                      ClusterOptions options) {
  std::unique_ptr<EmbeddedCluster> cluster(new EmbeddedCluster(options.state));
  TRY(cluster->OpenApi(ports, clock, options));
  TRY(cluster->StartParts(shims, gpus, ports, clock, options));
  return cluster;
}

base::Status EmbeddedCluster::OpenApi(node::PortAllocator& ports, base::Clock& clock,
                                      ClusterOptions& options) {
  TRY_ASSIGN(logs_, PodLogs::Start(options.state));
  TRY_ASSIGN(std::optional<store::Database> reader, options.check_store(lost_));
  server::ApiServer::Options server = std::move(options.server);
  server.clock = &clock;
  server.admission = MakeAdmission(std::move(options.defaults), ports);
  server.log_source = logs_.get();
  server.notices = [this] { return lost_.Notices(); };
  server.store_reserve = options.state + "/reserve";
  TRY_ASSIGN(api_, server::ApiServer::Open(options.database, std::move(server), std::move(reader)));
  TRY_ASSIGN(first_version_, api_->store().Version());
  client_ = std::make_unique<cluster::Client>(cluster::InProcessTransport(api_->handler()));
  // This comes before the lists of the parts below, because whoever started the daemon may be
  // waiting for a table.
  api_->ReadSummaries();
  return {};
}

base::Status EmbeddedCluster::StartParts(node::ShimLauncher& shims, node::GpuAllocator& gpus,
                                         node::PortAllocator& ports, base::Clock& clock,
                                         ClusterOptions& options) {
  node::AgentOptions agent = std::move(options.agent);
  agent.state_directory = options.state;
  agent.fate_of = [this](const std::string& uid) { return FateOf(uid); };
  TRY_ASSIGN(node_name_, RegisterNode(*client_, options.state, agent.machine, clock.Now()));
  agent.machine.node_name = node_name_;
  TRY_ASSIGN(agent_,
             node::Agent::Start(*client_, shims, gpus, ports, lost_, clock, std::move(agent)));
  options.scheduling.node_name = node_name_;
  scheduling_ = std::make_unique<Scheduling>(*client_, gpus, clock, std::move(options.scheduling));
  controller_ =
      std::make_unique<controller::Controller>(*client_, clock, ControllerOptions(ports, *agent_));
  node_ports_ = std::make_unique<NodePortKeeper>(*client_, ports);
  deployments_ = std::make_unique<Deployments>(*client_, clock);
  janitor_ = std::make_unique<EventJanitor>(*client_, clock);
  return {};
}

base::Result<node::Fate> EmbeddedCluster::FateOf(const std::string& uid) {
  TRY_ASSIGN(const store::Fate fate, api_->store().FateOf(uid));
  switch (fate) {
    case store::Fate::kStored:
      return node::Fate::kStored;
    case store::Fate::kDeleted:
      return node::Fate::kDeleted;
    case store::Fate::kUnknown:
      break;
  }
  return node::Fate::kUnknown;
}

}  // namespace local::daemon
