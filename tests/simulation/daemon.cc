#include <fmt/format.h>

#include "api/object.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/file.h"
#include "cluster/client.h"
#include "controller/loop/controller.h"
#include "local/daemon/admission.h"
#include "local/daemon/deployments/deployments.h"
#include "local/daemon/event_janitor.h"
#include "local/daemon/node_name.h"
#include "local/daemon/pods/node_ports.h"
#include "local/daemon/pods/pod_logs.h"
#include "local/daemon/scheduling/scheduling.h"
#include "local/node/agent/agent.h"
#include "local/node/devices/gpu.h"
#include "local/server/routing/api_server.h"
#include "local/store/upkeep.h"
#include "machine.h"
#include "thread_table.h"

namespace simulation {
namespace {

using namespace local;  // NOLINT: this is the product's own assembly
using local::daemon::Scheduling;
using local::daemon::SchedulingOptions;

base::Result<node::Fate> FateOf(store::Store& store, const std::string& uid) {
  TRY_ASSIGN(const store::Fate fate, store.FateOf(uid));
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

controller::Options ControllerOptions(node::PortAllocator& ports, node::Agent& agent) {
  controller::Options options;
  options.reconcile.init_container = false;
  options.reconcile.ends_pods_in_place = true;
  options.reconcile.success_grace = std::chrono::seconds(10);
  options.assign_master_port = [&ports](const std::string& uid, std::optional<int> existing) {
    return ports.Assign(uid, existing);
  };
  options.release_master_port = [&ports](const std::string& uid) { ports.Release(uid); };
  options.job_deleted = [&agent](const std::string& uid) { agent.JobGone(uid); };
  return options;
}

base::Result<node::Machine> ThisMachine(cluster::Client& client, const Machine& machine) {
  node::Machine described;
  described.node_name = machine.host_name;
  described.cpus = 64;
  described.memory = int64_t{256} << 30;
  described.boot_id = machine.boot_id();
  TRY_ASSIGN(const cluster::ObjectList nodes, client.List(api::kNodes, {}));
  std::vector<std::string> stored;
  for (const text::Json& node : nodes.items) stored.emplace_back(api::Name(node));
  TRY_ASSIGN(described.node_name,
             daemon::KeepNodeName(machine.state(), stored, described.node_name));
  return described;
}

server::Admission MakeAdmission(node::PortAllocator& ports) {
  daemon::AdmissionDefaults defaults;
  defaults.environment = "{}";
  return [defaults = std::move(defaults), &ports](
             server::Operation operation, const api::Resource& resource,
             const net::HttpRequest& request, text::Json& object,
             const text::Json* old) -> base::Result<std::vector<std::string>> {
    if (&resource == &api::kServices) TRY(daemon::AssignNodePorts(ports, old, object));
    if (operation != server::Operation::kCreate) return std::vector<std::string>();
    return daemon::AdmitCreate(resource, request.headers, defaults, object);
  };
}

// The connections' loop: one thread, as net::HttpServer has.
void Serve(Daemon& process, server::ApiServer& api) {
  process.state = Daemon::State::kReady;
  Trace("the daemon is ready");
  while (!process.is_asked_to_stop) {
    if (process.accepted.empty()) {
      Block(Wait::kCondition, &process.accepted, kNever);
      continue;
    }
    const std::shared_ptr<Connection> connection = process.accepted.front();
    process.accepted.pop_front();
    api.Handle(connection->request, net::MakeResponder(connection->exchange));
    Step(2);
  }
}

base::Status Assemble(Machine& machine, Daemon& process) {
  base::Clock& clock = base::SystemClock();
  const std::string state = machine.state(), database = state + "/cluster.db";
  TRY(base::MakeDirs(machine.runtime(), 0700));
  if (store::WasLeftOpen(database)) TRY(store::Check(database));
  TRY_ASSIGN(const auto logs, daemon::PodLogs::Start(state));
  node::PortAllocator ports({{20'000, 20'200}}, machine.disk().root() + "/");
  node::LostAndFound lost(state);
  server::ApiServer::Options server_options;
  server_options.clock = &clock;
  server_options.admission = MakeAdmission(ports);
  server_options.log_source = logs.get();
  server_options.notices = [&lost] { return lost.Notices(); };
  server_options.store_reserve = state + "/reserve";
  TRY_ASSIGN(const auto api, server::ApiServer::Open(database, std::move(server_options)));
  cluster::Client client(cluster::InProcessTransport(api->handler()));
  api->ReadSummaries();

  node::GpuAllocator gpus(machine.disk().root() + "/gpu-locks");
  gpus.SetInventory({});
  node::AgentOptions agent_options;
  agent_options.state_directory = state;
  TRY_ASSIGN(agent_options.machine, ThisMachine(client, machine));
  agent_options.socket = machine.runtime() + "/socket";
  agent_options.environment.Set("PATH", "/nowhere");
  agent_options.start_threads = 3;
  agent_options.fate_of = [&store = api->store()](const std::string& uid) {
    return FateOf(store, uid);
  };
  SchedulingOptions scheduling_options;
  scheduling_options.node_name = agent_options.machine.node_name;
  scheduling_options.cpu_milli = 64'000;
  scheduling_options.memory = int64_t{256} << 30;
  const auto registered =
      client.Create(api::kNodes, "", node::MakeNode(agent_options.machine, clock.Now()));
  if (!registered && registered.error().code != base::Code::kAlreadyExists) {
    return base::Fail(registered.error());
  }
  TRY_ASSIGN(const auto agent, node::Agent::Start(client, machine.shims(), gpus, ports, lost, clock,
                                                  std::move(agent_options)));
  Scheduling scheduling(client, gpus, clock, std::move(scheduling_options));
  const controller::Controller controller(client, clock, ControllerOptions(ports, *agent));
  const daemon::NodePortKeeper node_ports(client, ports);
  const daemon::Deployments deployments(client, clock);
  const daemon::EventJanitor janitor(client, clock);
  Serve(process, *api);
  process.state = Daemon::State::kStopping;
  Trace("the daemon stops");
  return {};
}

}  // namespace

void RunDaemon(Machine& machine, Daemon& process) {
  if (const base::Status served = Assemble(machine, process); !served) {
    Trace("the daemon ended: " + served.error().message);
    process.why_ended = served.error().message;
  }
}

}  // namespace simulation
