#include "local/command/choose_cluster.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace local::command {
namespace {

constexpr std::string_view kLocal = "local";
constexpr std::string_view kInCluster = "in-cluster";
constexpr const char* kAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";

ClusterChoice Embedded(std::string because) {
  ClusterChoice choice;
  choice.because = std::move(because);
  return choice;
}

// `~` is the home directory in each path of a list, because shells do not expand it after
// `--config=`.
std::string WithHome(std::string_view paths, const base::Environment& environment) {
  std::vector<std::string> parts = base::Split(paths, ':');
  for (std::string& part : parts) {
    if (part == "~" || part.starts_with("~/")) part.replace(0, 1, environment.Home());
  }
  return base::Join(parts, ":");
}

std::string DefaultKubeconfig(const base::Environment& environment) {
  return WithHome(environment.GetOr("KUBECONFIG", "~/.kube/config"), environment);
}

ClusterChoice Kubernetes(std::string kubeconfig, std::string context, std::string because) {
  ClusterChoice choice;
  choice.is_embedded = false;
  choice.kubeconfig = std::move(kubeconfig);
  choice.context = std::move(context);
  choice.because = std::move(because);
  return choice;
}

ClusterChoice Named(const std::string& name, const base::Environment& environment,
                    std::string because) {
  if (name == kLocal) return Embedded(std::move(because));
  if (name == kInCluster) return Kubernetes("", "", std::move(because));
  return Kubernetes(DefaultKubeconfig(environment), name, std::move(because));
}

}  // namespace

base::Result<ClusterChoice> ChooseCluster(const ClusterFlags& flags,
                                          const base::Environment& environment,
                                          const daemon::Config& config,
                                          const FileExists& file_exists) {
  if (flags.local && (!flags.kubeconfig.empty() || !flags.context.empty())) {
    return base::Fail(
        base::Code::kInvalidArgument,
        "--local selects the embedded cluster: it cannot be combined with --kubeconfig, "
        "--config or --context");
  }
  if (flags.local) return Embedded("flag --local");
  if (!flags.kubeconfig.empty()) {
    ClusterChoice choice =
        Kubernetes(WithHome(flags.kubeconfig, environment), flags.context,
                   fmt::format("flag {} {}", flags.kubeconfig_flag, flags.kubeconfig));
    choice.is_named_file = true;
    return choice;
  }
  if (!flags.context.empty()) {
    return Kubernetes(DefaultKubeconfig(environment), flags.context,
                      fmt::format("flag --context {}", flags.context));
  }
  if (const auto name = environment.Get("MUSTER_CLUSTER")) {
    return Named(*name, environment, fmt::format("MUSTER_CLUSTER={}", *name));
  }
  if (config.cluster) {
    return Named(*config.cluster, environment,
                 fmt::format("cluster: {} in {}", *config.cluster, config.path));
  }
  if (const auto paths = environment.Get("KUBECONFIG")) {
    return Kubernetes(WithHome(*paths, environment), "", fmt::format("KUBECONFIG={}", *paths));
  }
  const std::string path = environment.Home() + "/.kube/config";
  if (file_exists(path)) return Kubernetes(path, "", fmt::format("{} exists", path));
  if (environment.Get("KUBERNETES_SERVICE_HOST") && file_exists(kAccountToken)) {
    return Kubernetes("", "", "this is a pod with a service account");
  }
  return Embedded(fmt::format("no kubeconfig: neither KUBECONFIG nor {}", path));
}

}  // namespace local::command
