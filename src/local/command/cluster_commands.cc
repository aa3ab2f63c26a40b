#include "local/command/cluster_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "api/names.h"
#include "api/pytorch_job.h"
#include "api/resources.h"
#include "base/log.h"
#include "local/command/image_commands.h"
#include "local/command/kubernetes_command.h"
#include "local/command/listen_commands.h"
#include "local/daemon/connect.h"
#include "local/daemon/deployment_plan.h"
#include "text/json.h"

namespace local::command {
namespace {

constexpr std::string_view kStoppedReason = "ClusterStopped";

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

bool IsEnded(const text::Json& pod) {
  const std::string_view phase = text::GetString(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::vector<std::string> NamesOf(const std::vector<text::Json>& objects) {
  std::vector<std::string> names;
  for (const text::Json& object : objects) {
    names.push_back(fmt::format("{}/{}", text::GetString(object, {"metadata", "namespace"}),
                                text::GetString(object, {"metadata", "name"})));
  }
  return names;
}

// Jobs that have a pod that is starting or running.
base::Result<std::vector<text::Json>> RunningJobs(cluster::Client& client) {
  TRY_ASSIGN(const auto pods, client.List(api::kPods, {}));
  TRY_ASSIGN(auto jobs, client.List(api::kPyTorchJobs, {}));
  std::erase_if(jobs.items, [&](const text::Json& job) {
    return std::none_of(pods.items.begin(), pods.items.end(), [&](const text::Json& pod) {
      return !IsEnded(pod) && !text::GetString(pod, {"spec", "nodeName"}).empty() &&
             text::GetString(pod, {"metadata", "namespace"}) ==
                 text::GetString(job, {"metadata", "namespace"}) &&
             text::GetString(pod, {"metadata", "labels", api::kJobNameLabel}) ==
                 text::GetString(job, {"metadata", "name"});
    });
  });
  return std::move(jobs.items);
}

base::Status FailJob(cluster::Client& client, text::Json job, base::Time now) {
  const text::Json* const stored = text::Find(job, {"status"});
  TRY_ASSIGN(api::JobStatus status,
             api::ParseJobStatus(stored != nullptr ? *stored : text::Json(text::Object())));
  for (api::Condition& condition : status.conditions) {
    if (condition.type == "Running") condition.status = "False";
  }
  api::Condition failed;
  failed.type = "Failed";
  failed.status = "True";
  failed.reason = kStoppedReason;
  failed.message = "The embedded cluster was stopped by `muster down --force`.";
  failed.last_update_time = now;
  failed.last_transition_time = now;
  status.conditions.push_back(std::move(failed));
  status.completion_time = now;
  text::Set(job, {"status"}, api::StatusToJson(status));
  text::Erase(job, {"metadata", "resourceVersion"});
  TRY(client.UpdateStatus(api::kPyTorchJobs, job));
  return {};
}

// Returns when the pods of these uids are gone; `from` is the list that they were found in.
base::Status AwaitDeletion(cluster::Client& client, const cluster::ListOptions& from,
                           std::set<std::string> uids) {
  TRY_ASSIGN(const auto watch, client.OpenWatch(api::kPods, from));
  while (!uids.empty()) {
    TRY_ASSIGN(const auto event, watch->Next());
    if (!event) return base::Fail(base::Code::kUnavailable, "the cluster went away");
    if (event->type == cluster::WatchEvent::Type::kDeleted) {
      uids.erase(std::string(text::GetString(event->object, {"metadata", "uid"})));
    }
  }
  return {};
}

// Ends the jobs' pods and returns when they are gone.
base::Status DeletePods(cluster::Client& client, const std::vector<text::Json>& jobs) {
  for (const text::Json& job : jobs) {
    cluster::ListOptions list;
    list.namespace_name = text::GetString(job, {"metadata", "namespace"});
    list.label_selector =
        fmt::format("{}={}", api::kJobNameLabel, text::GetString(job, {"metadata", "name"}));
    TRY_ASSIGN(const auto pods, client.List(api::kPods, list));
    std::set<std::string> waiting;
    for (const text::Json& pod : pods.items) {
      if (IsEnded(pod)) continue;
      waiting.emplace(text::GetString(pod, {"metadata", "uid"}));
      const base::Status deleted = client.Delete(api::kPods, list.namespace_name,
                                                 text::GetString(pod, {"metadata", "name"}));
      if (!deleted && deleted.error().code != base::Code::kNotFound) return deleted;
    }
    list.resource_version = pods.resource_version;
    TRY(AwaitDeletion(client, list, std::move(waiting)));
  }
  return {};
}

// Ends the pods of Deployments (TensorBoards) and returns when they are gone; the next daemon makes
// them anew.
base::Status StopDeployments(cluster::Client& client) {
  TRY_ASSIGN(const auto deployments, client.List(api::kDeployments, {}));
  if (deployments.items.empty()) return {};
  text::Json patch = text::Object();
  text::Set(patch, {"metadata", "annotations", api::kStoppedAnnotation}, "true");
  for (const text::Json& deployment : deployments.items) {
    const auto patched = client.Patch(
        api::kDeployments, text::GetString(deployment, {"metadata", "namespace"}),
        text::GetString(deployment, {"metadata", "name"}), cluster::PatchType::kMerge, patch);
    if (!patched && patched.error().code != base::Code::kNotFound) {
      return base::Fail(patched.error());
    }
  }
  cluster::ListOptions list;
  list.label_selector = daemon::kTemplateHashLabel;
  TRY_ASSIGN(const auto pods, client.List(api::kPods, list));
  std::set<std::string> waiting;
  for (const text::Json& pod : pods.items) {
    if (!IsEnded(pod)) waiting.emplace(text::GetString(pod, {"metadata", "uid"}));
  }
  list.resource_version = pods.resource_version;
  return AwaitDeletion(client, list, std::move(waiting));
}

base::Result<int> Down(const ClusterContext& context, bool force, cli::Output& out) {
  const daemon::Paths paths = daemon::PathsOf(context.environment);
  TRY_ASSIGN(const auto pid, daemon::RunningDaemon(paths));
  if (!pid) {
    TRY(out.Write("The embedded cluster is not running.\n"));
    return 0;
  }
  const auto client = EmbeddedClient(paths, {}, {});
  TRY_ASSIGN(const std::vector<text::Json> jobs, RunningJobs(*client));
  if (!jobs.empty() && !force) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("{} still running: {}. `muster down --force` ends {} first, as "
                    "FAILED",
                    jobs.size() == 1 ? "a job is" : "jobs are", fmt::join(NamesOf(jobs), ", "),
                    jobs.size() == 1 ? "it" : "them"));
  }
  for (const text::Json& job : jobs) TRY(FailJob(*client, job, context.clock.Now()));
  TRY(DeletePods(*client, jobs));
  TRY(StopDeployments(*client));
  TRY(daemon::StopDaemon(paths));
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
