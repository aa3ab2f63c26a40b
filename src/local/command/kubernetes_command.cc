#include "local/command/kubernetes_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/log.h"
#include "cluster/kubernetes.h"

namespace local::command {
namespace {

base::Result<cluster::KubeSelection> Select(const ClusterContext& context,
                                            const ClusterChoice& choice) {
  cluster::KubernetesChoice wanted;
  wanted.must_exist = choice.is_named_file;
  wanted.context = choice.context;
  if (choice.is_named_file) {
    wanted.files = {choice.kubeconfig};
  } else {
    wanted.files = cluster::SplitKubeconfigList(choice.kubeconfig);
  }
  auto selection = cluster::FindKubernetes(wanted, context.environment);
  if (selection) return selection;
  return base::Fail(selection.error().code,
                    fmt::format("{} (chosen because: {}; --local is the embedded cluster)",
                                selection.error().message, choice.because));
}

base::Result<std::unique_ptr<cluster::Client>> Reach(const ClusterContext& context,
                                                     const cluster::KubeSelection& selection,
                                                     cluster::Client::WarningSink warnings) {
  return cluster::ConnectToKubernetes(
      selection, {context.environment, context.clock, context.pause, std::move(warnings),
                  ::isatty(STDIN_FILENO) == 1});
}

std::string OrNone(const std::string& text) { return text.empty() ? "(none)" : text; }

}  // namespace

std::string NamespaceOfContext(const ClusterContext& context, const ClusterChoice& choice) {
  auto selection = Select(context, choice);
  return selection ? std::move(selection->namespace_name) : "";
}

base::Result<Connection> ConnectKubernetes(const ClusterContext& context, ClusterChoice choice,
                                           cluster::Client::WarningSink warnings) {
  TRY_ASSIGN(auto selection, Select(context, choice));
  base::LogDebug("cluster: {}, context {}, user {}, at {}", selection.cluster_name,
                 selection.context_name, selection.user_name, selection.cluster.server);
  Connection connection;
  TRY_ASSIGN(connection.client, Reach(context, selection, std::move(warnings)));
  connection.choice = std::move(choice);
  connection.namespace_name = selection.namespace_name;
  connection.server = selection.cluster.server;
  connection.user_name =
      [client = connection.client.get(), selection = std::move(selection),
       name = std::make_shared<std::optional<std::string>>()]() -> base::Result<std::string> {
    if (!*name) {
      TRY_ASSIGN(*name, cluster::FindUserName(*client, selection));
    }
    return **name;
  };
  return connection;
}

base::Result<int> ShowKubernetes(const ClusterContext& context, const ClusterChoice& choice,
                                 cli::Output& out) {
  TRY_ASSIGN(const auto selection, Select(context, choice));
  TRY(out.Write(fmt::format(
      "A Kubernetes cluster\nBecause:    {}\nKubeconfig: {}\nContext:    {}\nServer:     {}\n"
      "Namespace:  {}\nUser entry: {}\n",
      choice.because, choice.kubeconfig.empty() ? "(the pod's service account)" : choice.kubeconfig,
      selection.context_name, selection.cluster.server,
      selection.namespace_name.empty() ? "default" : selection.namespace_name,
      OrNone(selection.user_name))));
  TRY_ASSIGN(const auto client, Reach(context, selection, {}));
  TRY_ASSIGN(const std::string body, client->Raw("GET", "/version"));
  const auto version = text::ParseJson(body);
  TRY_ASSIGN(const std::string user, cluster::FindUserName(*client, selection));
  TRY(out.Write(
      fmt::format("Version:    {}\nUser:       {}\n",
                  OrNone(version ? std::string(text::GetString(*version, {"gitVersion"})) : ""),
                  OrNone(user))));
  return 0;
}

}  // namespace local::command
