#include "controller/operator/operator_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/log.h"
#include "base/machine/host_name.h"
#include "base/strings.h"
#include "base/uid.h"
#include "controller/operator/operator.h"
#include "net/socket/tcp.h"
#include "reconcile/pod/init_container.h"

namespace controller {
namespace {

using base::Code;

constexpr size_t kMaxTemplateBytes = 1 << 20;
// Kinds that Kubeflow's operator handles (compat/pytorchjob.md 3.1).
constexpr std::string_view kTheirKinds[] = {"tfjob",  "pytorchjob", "xgboostjob",
                                            "mpijob", "paddlejob",  "jaxjob"};
constexpr std::string_view kOurKind = "pytorchjob";
constexpr const char* kTemplateFile = "/etc/config/initContainer.yaml";

// The flags as parsed.
struct OperatorFlags {
  std::string metrics_address;
  std::string probe_address;
  std::string gang_scheduler_name;
  std::string init_image;
  std::string init_template_file;
  std::vector<std::string> schemes;
  WebhookOptions webhook;
  StatusOptions status;
  std::string init_step;
  std::string lease_name;
  std::string lease_namespace;
  int64_t init_tries = 0;
  int64_t threads = 0;
  int64_t qps = 0;
  int64_t burst = 0;
  bool elects_leader = false;
  bool reports_first_failure = true;
  // Flags in Kubeflow's Deployments: accepted, so that their arguments need not change, and
  // ignored.
  std::string zap_encoder, zap_stacktrace_level, zap_time_encoding, mpi_image;
  bool zap_devel = false;
  std::string zap_log_level;
};

void DeclareInertFlags(cli::FlagSet& set, OperatorFlags& flags) {
  const std::string usage = "accepted for Kubeflow's Deployments; has no effect";
  set.Bool(&flags.zap_devel, "zap-devel", false, usage).Hidden();
  set.String(&flags.zap_encoder, "zap-encoder", "", usage).Hidden();
  set.String(&flags.zap_stacktrace_level, "zap-stacktrace-level", "", usage).Hidden();
  set.String(&flags.zap_time_encoding, "zap-time-encoding", "", usage).Hidden();
  set.String(&flags.mpi_image, "mpi-kubectl-delivery-image", "", usage).Hidden();
}

void DeclareFlags(cli::FlagSet& set, OperatorFlags& flags) {
  set.String(&flags.metrics_address, "metrics-bind-address", ":8080",
             "address that serves /metrics; 0: none");
  set.String(&flags.probe_address, "health-probe-bind-address", ":8081",
             "address that serves /healthz and /readyz; 0: none");
  set.String(&flags.gang_scheduler_name, "gang-scheduler-name", "",
             "schedule all pods of a job at once: volcano, or the schedulerName of a "
             "scheduler-plugins scheduler");
  set.Int(&flags.threads, "controller-threads", 8, "number of jobs that are reconciled at once");
  set.String(&flags.init_image, "pytorch-init-container-image", "",
             "image of the container in which workers wait for the master's name (default: the "
             "operator's own image)");
  set.String(&flags.init_step, "init-step", "dns",
             "how workers wait for the master: dns (its name resolves), port (its port is open, in "
             "the job's own image) or none; a job's annotation muster.dev/init-step overrides this")
      .Choices({"dns", "port", "none"});
  set.Bool(
      &flags.reports_first_failure, "failure-details", true,
      "name in the message of Failed the pod that failed first, and how it failed, if that is more "
      "than an exit code");
  set.Int(&flags.init_tries, "pytorch-init-container-max-tries", 100,
          "how many times, two seconds apart, workers look up the master's name");
  set.String(&flags.init_template_file, "pytorch-init-container-template-file", kTemplateFile,
             "file with a YAML list of containers that replaces the built-in one");
  set.Bool(&flags.elects_leader, "leader-elect", false,
           "reconcile only while holding the Lease, so that several operators may stand by");
  set.String(&flags.lease_name, "leader-election-id", "1ca428e5.training-operator.kubeflow.org",
             "name of the Lease");
  set.String(&flags.lease_namespace, "leader-election-namespace", "",
             "namespace of the Lease (default: $MY_POD_NAMESPACE, otherwise kubeflow)");
  set.Int(&flags.qps, "kube-api-qps", 0,
          "most requests per second; 0: adapt to the API server's responses");
  set.Int(&flags.burst, "kube-api-burst", 30, "most requests in a burst, with --kube-api-qps");
  set.StringArray(&flags.schemes, "enable-scheme",
                  "kind of job to run; only pytorchjob is supported");
  set.String(&flags.zap_log_level, "zap-log-level", "",
             "another name for --loglevel: debug, info, error, or a number (above 0: debug)")
      .Hidden();
  DeclareInertFlags(set, flags);
  DeclareWebhookFlags(set, flags.webhook);
  DeclareStatusFlags(set, flags.status);
}

// Finds the cluster in the order of Kubeflow's operator: flag, $KUBECONFIG, the pod's service
// account, ~/.kube/config.
cluster::KubernetesChoice ChooseCluster(const ProgramFlags& flags,
                                        const base::Environment& environment) {
  cluster::KubernetesChoice choice;
  choice.context = flags.context;
  if (!flags.kubeconfig.empty()) {
    choice.files = {flags.kubeconfig};
    choice.must_exist = true;
  } else if (const auto list = environment.Get("KUBECONFIG")) {
    choice.files = cluster::SplitKubeconfigList(*list);
  } else if (!cluster::IsInCluster(environment)) {
    choice.files = {environment.Home() + "/.kube/config"};
  }
  return choice;
}

base::Status CheckSchemes(const std::vector<std::string>& schemes) {
  const auto is_named = [](std::string_view scheme) {
    return [scheme](std::string_view kind) { return base::EqualsIgnoreCase(scheme, kind); };
  };
  for (const std::string& scheme : schemes) {
    if (std::none_of(std::begin(kTheirKinds), std::end(kTheirKinds), is_named(scheme))) {
      return base::Fail(Code::kInvalidArgument,
                        fmt::format("--enable-scheme: scheme {} is not supported yet", scheme));
    }
  }
  if (!schemes.empty() && std::none_of(schemes.begin(), schemes.end(), is_named(kOurKind))) {
    return base::Fail(
        Code::kInvalidArgument,
        "--enable-scheme: muster runs PyTorchJobs only: add --enable-scheme=pytorchjob");
  }
  return {};
}

void WarnOfOtherKinds(const std::vector<std::string>& schemes) {
  for (const std::string& scheme : schemes) {
    if (base::EqualsIgnoreCase(scheme, kOurKind)) continue;
    base::LogWarn("--enable-scheme={}: muster runs PyTorchJobs only and ignores these kinds",
                  scheme);
  }
}

// Maps zap's words and numbers to --loglevel's.
base::Result<base::LogLevel> ParseZapLevel(const std::string& level) {
  if (const auto number = base::ParseInt(level); number && *number >= 0) {
    return *number > 0 ? base::LogLevel::kDebug : base::LogLevel::kInfo;
  }
  const auto parsed = base::ParseLogLevel(level == "panic" ? "error" : level);
  if (parsed) return *parsed;
  return base::Fail(Code::kInvalidArgument,
                    fmt::format("--zap-log-level: must be debug, info, error or a number from 0, "
                                "not {}",
                                level));
}

// Identifies this process among the competitors for the Lease.
std::string Identity(const std::string& pod_name) {
  return fmt::format("{}_{}", pod_name.empty() ? base::HostName() : pod_name, base::RandomName(8));
}

base::Result<OperatorOptions> OptionsOf(const OperatorFlags& flags, const ProgramFlags& program,
                                        const base::Environment& environment) {
  OperatorOptions options;
  options.metrics_address = flags.metrics_address;
  options.probe_address = flags.probe_address;
  options.cluster = ChooseCluster(program, environment);
  options.webhook = flags.webhook;
  options.status = flags.status;
  options.webhook.namespace_name =
      environment.GetOr("MY_POD_NAMESPACE", options.webhook.namespace_name);
  Options& controller = options.controller;
  controller.namespace_name = program.namespace_name.empty()
                                  ? environment.GetOr("KUBEFLOW_NAMESPACE", "")
                                  : program.namespace_name;
  controller.workers = static_cast<int>(flags.threads);
  controller.reconcile.gang_scheduler_name = flags.gang_scheduler_name;
  controller.reconcile.init_container_image = flags.init_image;
  controller.reconcile.init_container_max_tries = static_cast<int>(flags.init_tries);
  options.flow.rate = static_cast<double>(flags.qps);
  options.flow.burst = static_cast<double>(flags.burst);
  options.elects_leader = flags.elects_leader;
  options.pod_name = environment.GetOr("MY_POD_NAME", "");
  options.leader.lease_name = flags.lease_name;
  options.leader.namespace_name = flags.lease_namespace.empty()
                                      ? environment.GetOr("MY_POD_NAMESPACE", "kubeflow")
                                      : flags.lease_namespace;
  options.leader.identity = Identity(options.pod_name);
  controller.reconcile.init_step = flags.init_step;
  controller.reconcile.reports_first_failure = flags.reports_first_failure;
  auto init_template = base::ReadFile(flags.init_template_file, kMaxTemplateBytes);
  if (init_template) {
    if (!reconcile::IsInitContainerTemplate(*init_template)) {
      return base::Fail(Code::kInvalidArgument,
                        fmt::format("--pytorch-init-container-template-file: {} is not a YAML "
                                    "list of "
                                    "containers",
                                    flags.init_template_file));
    }
    controller.reconcile.init_container_template = std::move(*init_template);
  } else if (flags.init_template_file != kTemplateFile) {
    return base::Fail(init_template.error().Wrap("--pytorch-init-container-template-file"));
  }
  return options;
}

base::Status CheckBindAddress(const char* flag, const std::string& address) {
  if (address.empty() || address == "0") return {};
  const auto parsed = net::ParseHostPort(address);
  return parsed ? base::Status() : base::Fail(parsed.error().Wrap(fmt::format("--{}", flag)));
}

base::Status CheckFlags(const OperatorFlags& flags, const ProgramFlags& program) {
  if (program.is_local) {
    return base::Fail(Code::kInvalidArgument,
                      "--local: the embedded cluster runs the controller by itself; the operator "
                      "is for a Kubernetes cluster");
  }
  if (flags.threads < 1 || flags.threads > 256) {
    return base::Fail(Code::kInvalidArgument, "--controller-threads: must be 1 to 256");
  }
  if (flags.init_tries < 1 || flags.init_tries > INT32_MAX) {
    return base::Fail(Code::kInvalidArgument,
                      "--pytorch-init-container-max-tries: must be at least 1");
  }
  if (flags.init_step != "dns" && flags.init_step != "port" && flags.init_step != "none") {
    return base::Fail(Code::kInvalidArgument, "--init-step: must be dns, port or none");
  }
  const std::string& policy = flags.webhook.failure_policy;
  if (!policy.empty() && policy != "Fail" && policy != "Ignore") {
    return base::Fail(Code::kInvalidArgument, "--webhook-failure-policy: must be Fail or Ignore");
  }
  TRY(CheckBindAddress("metrics-bind-address", flags.metrics_address));
  TRY(CheckBindAddress("health-probe-bind-address", flags.probe_address));
  TRY(CheckStatusOptions(flags.status));
  if (flags.qps < 0 || flags.burst < 1) {
    return base::Fail(Code::kInvalidArgument,
                      "--kube-api-qps: must not be negative, and --kube-api-burst at least 1");
  }
  if (!flags.zap_log_level.empty()) TRY(ParseZapLevel(flags.zap_log_level));
  return CheckSchemes(flags.schemes);
}

}  // namespace

void AddOperatorCommand(cli::Command& root, const OperatorContext& context) {
  cli::Command& command = root.Add("operator", "Run PyTorchJobs of a Kubernetes cluster");
  const auto flags = std::make_shared<OperatorFlags>();
  DeclareFlags(command.flags(), *flags);
  command.Help("controller/operator/operator", "muster")
      .Args(cli::NoArgs())
      .Check([context, flags](cli::Invocation&) { return CheckFlags(*flags, context.flags()); })
      .Run([context, flags](cli::Invocation&) -> base::Result<int> {
        TRY_ASSIGN(OperatorOptions options,
                   OptionsOf(*flags, context.flags(), context.environment));
        base::SetLogForm(base::LogForm::kArena);
        if (const auto level = ParseZapLevel(flags->zap_log_level)) base::SetLogLevel(*level);
        WarnOfOtherKinds(flags->schemes);
        TRY(RunOperator(std::move(options), context.environment, context.clock, context.pause));
        return 0;
      });
}

}  // namespace controller
