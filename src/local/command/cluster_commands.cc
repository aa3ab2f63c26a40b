#include "local/command/cluster_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "base/log.h"
#include "local/command/image_commands.h"
#include "local/command/kubernetes_command.h"
#include "local/command/listen_commands.h"
#include "local/command/stop_cluster.h"
#include "local/daemon/connect.h"

namespace local::command {
namespace {

// A daemon that does not answer `down` within this is ended all the same, where that is forced.
constexpr std::chrono::seconds kDownTimeout{20};

base::Result<ClusterChoice> Choose(const ClusterContext& context, const daemon::Config& config) {
  return ChooseCluster(context.flags(), context.environment, config,
                       [](const std::string& path) { return access(path.c_str(), F_OK) == 0; });
}

std::unique_ptr<cluster::Client> EmbeddedClient(const daemon::Paths& paths, net::Headers headers,
                                                cluster::Client::WarningSink warnings) {
  return std::make_unique<cluster::Client>(cluster::UnixTransport(paths.socket, std::move(headers)),
                                           std::move(warnings));
}

base::Result<int> Up(const ClusterContext& context, const std::string& listen, cli::Output& out) {
  TRY_ASSIGN(const std::string executable, daemon::OwnExecutable());
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto before, daemon::RunningDaemon(paths));
  TRY(daemon::EnsureDaemon(context.environment, executable));
  TRY_ASSIGN(const auto pid, daemon::RunningDaemon(paths));
  TRY(out.Write(fmt::format("The embedded cluster {} (pid {}, state in {}).\n",
                            before ? "is up already" : "is up", pid.value_or(0), paths.state)));
  if (!listen.empty()) TRY(Listen(paths, listen, out));
  return 0;
}

base::Result<int> Down(const ClusterContext& context, bool force, cli::Output& out) {
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto pid, daemon::RunningDaemon(paths));
  if (!pid) {
    TRY(out.Write("The embedded cluster is not running.\n"));
    return 0;
  }
  cluster::Client client(cluster::UnixTransport(paths.socket, {}, kDownTimeout));
  TRY(StopCluster(client, context.clock, force, [&paths] { return daemon::StopDaemon(paths); }));
  TRY(out.Write(
      "The embedded cluster is down. Its jobs and logs stay for the next `muster up`.\n"));
  return 0;
}

base::Result<int> ShowCluster(const ClusterContext& context, cli::Output& out) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(const ClusterChoice choice, Choose(context, config));
  if (!choice.is_embedded) return ShowKubernetes(context, choice, out);
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto pid, daemon::RunningDaemon(paths));
  TRY(out.Write(fmt::format(
      "The embedded cluster of this machine\nBecause: {}\nDaemon:  {}\nState:   {}\nSocket:  {}\n",
      choice.because,
      pid ? fmt::format("running, pid {}", *pid) : "not running; the first command starts it",
      paths.state, paths.socket)));
  return 0;
}

}  // namespace

void AddClusterCommands(cli::Command& root, const ClusterContext& context) {
  cli::Command& up = root.Add("up", "Start the embedded cluster of this machine");
  auto listen = std::make_shared<std::string>();
  AddListenFlag(up.flags(), listen.get());
  up.Long(
        "Starts the embedded cluster. Every command that needs it does so by itself.\n"
        "With --listen it serves kubectl and SDKs as well, over TLS on a port of this machine and\n"
        "for who has the token: see `muster kubeconfig`.")
      .Example("  muster up\n  muster up --listen\n  muster up --listen=127.0.0.1:8443")
      .Args(cli::NoArgs())
      .Run([context, listen](cli::Invocation& call) { return Up(context, *listen, call.out); });
  AddKubeconfigCommand(root, context);
  AddImageCommands(root, context);

  cli::Command& down = root.Add("down", "Stop the embedded cluster of this machine");
  auto force = std::make_shared<bool>(false);
  down.flags().Bool(force.get(), "force", false,
                    "end running jobs first; they become FAILED, reason ClusterStopped");
  down.Long(
          "Stops the embedded cluster. While jobs run it refuses, unless --force ends them first.\n"
          "Jobs, logs and data volumes stay for the next `muster up`.")
      .Args(cli::NoArgs())
      .Run([context, force](cli::Invocation& call) { return Down(context, *force, call.out); });

  root.Add("cluster", "Say which cluster commands talk to, and why")
      .Long(
          "Prints the cluster that commands talk to and what decided it: a flag, then the\n"
          "environment (MUSTER_CLUSTER), then config.yaml, then a kubeconfig, then the service\n"
          "account of the pod we run in, then the embedded cluster of this machine.")
      .Args(cli::NoArgs())
      .Run([context](cli::Invocation& call) { return ShowCluster(context, call.out); });
}

base::Result<ChosenCluster> FindChosenCluster(const ClusterContext& context) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(const ClusterChoice choice, Choose(context, config));
  return ChosenCluster{choice.is_embedded,
                       choice.is_embedded ? "" : NamespaceOfContext(context, choice)};
}

base::Result<Connection> Connect(const ClusterContext& context,
                                 cluster::Client::WarningSink warnings) {
  TRY_ASSIGN(const daemon::Config config, daemon::LoadConfig(context.environment));
  TRY_ASSIGN(ClusterChoice choice, Choose(context, config));
  base::LogDebug("cluster: {} ({})", choice.is_embedded ? "embedded" : choice.kubeconfig,
                 choice.because);
  if (!choice.is_embedded) {
    return ConnectKubernetes(context, std::move(choice), std::move(warnings));
  }
  TRY_ASSIGN(const std::string executable, daemon::OwnExecutable());
  TRY(daemon::EnsureDaemon(context.environment, executable));
  TRY_ASSIGN(net::Headers headers, daemon::SubmitterHeaders(context.environment, config));
  Connection connection;
  connection.client =
      EmbeddedClient(daemon::PathsOf(context.environment), std::move(headers), std::move(warnings));
  connection.choice = std::move(choice);
  return connection;
}

}  // namespace local::command
