#include <fmt/format.h>

#include <memory>

#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/services.h"
#include "arena/app/trainer.h"
#include "arena/jobs/jobs.h"
#include "arena/verbs.h"

namespace arena {
namespace {

constexpr std::string_view kDashboard = "kubernetes-dashboard";

// Returns host:port where the service can be reached from here; "" if it cannot be.
std::string AddressOf(cluster::Client& client, const text::Json& service) {
  const std::string_view type = text::GetString(service, {"spec", "type"});
  std::string host;
  int64_t port = FirstPort(service, "port");
  const std::string ingress = IngressHost(service);
  if (type == "LoadBalancer" && !ingress.empty()) {
    host = ingress;
  } else if (type == "NodePort") {
    host = ReadyNodeAddress(client);
    port = FirstPort(service, "nodePort");
  } else if (const std::string_view ip = text::GetString(service, {"spec", "clusterIP"});
             ip != "None") {
    host = ip;
  }
  return host.empty() || port == 0 ? "" : fmt::format("{}:{}", host, port);
}

// Returns the address of the dashboard in the job's namespace, in Arena's, or in kube-system.
base::Result<std::string> FindDashboard(cluster::Client& client, const Context& context,
                                        const std::string& namespace_name) {
  for (const std::string& place :
       {namespace_name, context.flags.arena_namespace, std::string("kube-system")}) {
    const auto service = client.Get(api::kServices, place, kDashboard);
    if (!service) continue;
    if (std::string address = AddressOf(client, *service); !address.empty()) return address;
  }
  return base::Fail(base::Code::kNotFound, "failed to get LogViewer: no LOGVIEWER Installed");
}

base::Result<int> RunLogViewer(Context& context, const std::string& type, cli::Invocation& call) {
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(type));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string namespace_name = context.Namespace();
  if (!is_pytorch) return base::Fail(NotFoundJob(context, namespace_name, call.args[0]));
  TRY_ASSIGN(const TrainingJob job, FindJob(*client, context, namespace_name, call.args[0]));
  TRY_ASSIGN(const std::string dashboard, FindDashboard(*client, context, namespace_name));
  std::string out = "Your LogViewer will be available on:\n";
  for (const api::InstanceSummary& instance : job.summary.instances) {
    const text::Array& containers = text::Items(*job.Pod(instance.name), {"spec", "containers"});
    if (containers.empty()) continue;
    out += fmt::format("{}/#!/log/{}/{}/{}?namespace={}\n", dashboard, namespace_name,
                       instance.name, text::GetString(containers[0], {"name"}), namespace_name);
  }
  TRY(call.out.Write(out));
  return 0;
}

}  // namespace

void AddLogViewer(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("logviewer JOB", "Print the address of a job's logs in the Kubernetes dashboard")
          .Args(cli::MaxArgs(1))
          .Help("arena/logs/logviewer", context.program);
  auto type = std::make_shared<std::string>();
  AddTypeFlag(verb.flags(), type.get());
  verb.Check([type](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    TRY(MeansPyTorch(*type));
    return {};
  });
  CompleteOneJob(verb, context);
  verb.Run([type, &context](cli::Invocation& call) { return RunLogViewer(context, *type, call); });
}

}  // namespace arena
