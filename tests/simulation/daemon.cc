#include "base/clock.h"
#include "base/file.h"
#include "local/daemon/daemon_socket.h"
#include "local/daemon/embedded_cluster.h"
#include "local/daemon/upkeep.h"
#include "machine.h"
#include "net/http/response_stream.h"
#include "thread_table.h"

namespace simulation {
namespace {

using local::daemon::ClusterOptions;
using local::daemon::EmbeddedCluster;

// What the product's daemon asks of its machine, as the simulated one answers.
ClusterOptions OptionsOf(const Machine& machine, base::Clock& clock) {
  ClusterOptions options;
  options.state = machine.state();
  options.database = machine.state() + "/cluster.db";
  local::daemon::Paths paths;
  paths.state = options.state;
  paths.database = options.database;
  options.check_store =
      [paths, &clock](
          local::node::LostAndFound& lost) -> base::Result<std::optional<local::store::Database>> {
    if (local::daemon::StoreCheckOf(paths) == local::daemon::StoreCheck::kNone) return std::nullopt;
    return local::daemon::CheckStore(paths, lost, clock);
  };
  options.defaults.environment = "{}";
  options.agent.machine.node_name = machine.host_name;
  options.agent.machine.cpus = 64;
  options.agent.machine.memory = int64_t{256} << 30;
  options.agent.machine.boot_id = machine.boot_id();
  options.agent.socket = machine.runtime() + "/socket";
  options.agent.environment.Set("PATH", "/nowhere");
  options.agent.start_threads = 3;
  options.scheduling.cpu_milli = 64'000;
  options.scheduling.memory = int64_t{256} << 30;
  return options;
}

// The connections' loop: one thread, as net::HttpServer has.
void Serve(Daemon& process, local::server::ApiServer& api) {
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

base::Status RunToItsEnd(Machine& machine, Daemon& process) {
  base::Clock& clock = base::SystemClock();
  // As local/client does, which starts it.
  const std::string runtime = machine.runtime();
  for (const std::string& folder : {machine.state(), runtime}) {
    TRY(base::MakeDirs(folder, 0700));
  }
  local::node::PortAllocator ports({{20'000, 20'200}}, machine.disk().root() + "/");
  local::node::GpuAllocator gpus(machine.disk().root() + "/gpu-locks");
  gpus.SetInventory({});
  TRY_ASSIGN(const auto cluster, EmbeddedCluster::Start(machine.shims(), gpus, ports, clock,
                                                        OptionsOf(machine, clock)));
  TRY_ASSIGN(const auto socket, local::daemon::ListenOnSocket(runtime + "/socket", {}));
  process.ports = &ports;
  Serve(process, cluster->api());
  process.ports = nullptr;
  process.state = Daemon::State::kStopping;
  Trace("the daemon stops");
  return {};
}

}  // namespace

void RunDaemon(Machine& machine, Daemon& process) {
  if (const base::Status served = RunToItsEnd(machine, process); !served) {
    Trace("the daemon ended: " + served.error().message);
    process.why_ended = served.error().message;
  }
}

}  // namespace simulation
