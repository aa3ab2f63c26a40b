#include <fmt/format.h>

#include <memory>
#include <utility>

#include "api/job/pytorch_job.h"
#include "api/object.h"
#include "arena/install/install_plan.h"
#include "arena/install/installed_place.h"
#include "arena/install/other_operator.h"
#include "arena/objects/manifest_objects.h"
#include "arena/objects/rollout.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/nearest.h"
#include "text/yaml.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct InstallFlags {
  InstallOptions plan;
  std::string dry_run = "none";
  std::string output;
  std::chrono::nanoseconds timeout{};
  bool replaces = false;
  bool waits = false;
  bool force_conflicts = false;

  bool is_server_dry_run() const { return dry_run == "server"; }
};

// One install: the steps share the client and their findings.
class Installation {
 public:
  Installation(const InstallFlags& flags, cluster::Client& client, cli::Output& out)
      : flags_(flags), client_(client), kinds_(client, false), out_(out) {}

  base::Status CheckNamespaced();
  base::Status CheckElsewhere();
  base::Status CheckRival(const std::vector<text::Json>& objects);
  base::Status CheckOther();
  // Whether all objects can be created; otherwise none is.
  base::Status CheckAll(const std::vector<text::Json>& objects);
  base::Status Put(const text::Json& object);
  base::Status Await();

 private:
  std::chrono::milliseconds Timeout() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(flags_.timeout);
  }
  base::Status Say(const ManifestObject& object, std::string_view verb) {
    return out_.Write(fmt::format("{} {}{}\n", object.Label(), verb,
                                  flags_.is_server_dry_run() ? " (server dry run)" : ""));
  }
  base::Result<ManifestObject> Find(const text::Json& object);
  base::Result<bool> IsKept(const ManifestObject& wanted);
  base::Status Check(const ManifestObject& wanted);
  base::Result<AppliedObject> Apply(const ManifestObject& wanted, bool is_dry_run);
  base::Error Explain(base::Error error, const ManifestObject& wanted) const;

  const InstallFlags& flags_;
  cluster::Client& client_;
  KindFinder kinds_;
  cli::Output& out_;
};

// A namespaced operator requires the kind to exist.
base::Status Installation::CheckNamespaced() {
  if (!flags_.plan.is_namespaced) return {};
  const auto kind = kinds_.Find(api::kPyTorchJobs.api_version(), api::kPyTorchJobs.kind);
  if (kind) return {};
  if (kind.error().code != Code::kInvalidArgument) return Fail(kind.error());
  return Fail(Code::kInvalidArgument,
              "the cluster has no PyTorchJobs, which --namespaced requires: an "
              "administrator has to run `muster install --crd-only` first");
}

base::Status Installation::CheckElsewhere() {
  if (flags_.plan.is_namespaced || flags_.plan.is_crd_only) return {};
  TRY_ASSIGN(const std::string place, PlaceOfOperator(client_, kinds_));
  if (place.empty() || place == flags_.plan.namespace_name) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("the operator is installed in namespace {0} already: give -n {0}, or run "
                          "`muster uninstall -n {0}` first",
                          place));
}

base::Status Installation::CheckRival(const std::vector<text::Json>& objects) {
  for (const text::Json& object : objects) {
    if (text::GetString(object, {"kind"}) != "Deployment") continue;
    TRY_ASSIGN(const auto rival, FindRival(client_, object));
    if (!rival) continue;
    const std::string jobs_of = JobsOfOperator(*rival).value_or("");
    const std::string_view place = api::Namespace(*rival);
    return Fail(
        Code::kInvalidArgument,
        fmt::format("the operator in namespace {} runs the jobs of {}, and two operators would "
                    "both work on each job: run `muster uninstall{} -n {}` first",
                    place, jobs_of.empty() ? "all namespaces" : "namespace " + jobs_of,
                    jobs_of == place ? " --namespaced" : "", place));
  }
  return {};
}

base::Status Installation::CheckOther() {
  if (flags_.plan.is_crd_only) return {};
  TRY_ASSIGN(const auto other,
             FindOtherOperator(client_, kinds_,
                               flags_.plan.is_namespaced ? flags_.plan.namespace_name : ""));
  if (!other.is_there()) return {};
  if (!flags_.replaces) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} runs PyTorchJobs here, and two operators would both work on each "
                    "job: --replace takes them over from it (jobs keep running, it keeps the "
                    "other kinds)",
                    other.Text()));
  }
  if (flags_.is_server_dry_run()) {
    return out_.Write(fmt::format("{} hands over PyTorchJobs (server dry run)\n", other.Text()));
  }
  TRY(TakeOver(client_, kinds_, other, Timeout()));
  return out_.Write(fmt::format("{} handed over PyTorchJobs\n", other.Text()));
}

// Whether the existing object belongs to somebody else and is left alone.
base::Result<bool> Installation::IsKept(const ManifestObject& wanted) {
  TRY_ASSIGN(const auto live, FindLive(client_, wanted));
  if (!live || IsOurs(*live) || flags_.force_conflicts) return false;
  const std::string_view kind = wanted.resource->kind;
  if (kind == "Namespace") return true;
  if (kind == "CustomResourceDefinition") return !flags_.replaces;
  return Fail(Code::kConflict,
              "exists and was not created by muster install: --force-conflicts takes it over");
}

// The error with what to do about it; without permission its first line, because a refused role
// lists all its rules.
base::Error Installation::Explain(base::Error error, const ManifestObject& wanted) const {
  const std::string& place = flags_.plan.namespace_name;
  if (error.message.find("because it is being terminated") != std::string::npos) {
    error.message +=
        fmt::format(" (wait until it is gone: kubectl wait --for=delete namespace/{})", place);
  } else if (error.code == Code::kNotFound && flags_.plan.is_namespaced) {
    error.message += fmt::format(
        " (an administrator of the cluster creates it: kubectl create namespace {})", place);
  } else if (error.code == Code::kPermissionDenied) {
    error.message = error.message.substr(0, error.message.find('\n'));
    error.message += !flags_.plan.is_namespaced
                         ? " (installing takes a cluster administrator; --namespaced takes an "
                           "administrator of one namespace)"
                     : wanted.resource->kind == "Role"
                         ? " (an administrator of the cluster runs `muster install --crd-only`, "
                           "which lets administrators of namespaces give these rights)"
                         : " (--namespaced takes an administrator of the namespace)";
  }
  return error.Wrap(wanted.Label());
}

base::Result<AppliedObject> Installation::Apply(const ManifestObject& wanted, bool is_dry_run) {
  // A definition is applied as a whole: a mixture with another's would not work.
  const bool force = flags_.force_conflicts || wanted.resource->kind == "CustomResourceDefinition";
  return ApplyObject(client_, wanted, {"muster-install", force, is_dry_run});
}

base::Status Installation::Check(const ManifestObject& wanted) {
  TRY_ASSIGN(const bool is_kept, IsKept(wanted));
  if (is_kept) return {};
  const auto applied = Apply(wanted, true);
  if (applied) return {};
  // Objects in a namespace that is created first, and bindings of roles that are.
  const bool comes_later = !flags_.plan.is_namespaced || wanted.resource->kind.ends_with("Binding");
  if (applied.error().code == Code::kNotFound && comes_later) return {};
  return Fail(applied.error());
}

base::Status Installation::CheckAll(const std::vector<text::Json>& objects) {
  for (const text::Json& object : objects) {
    TRY_ASSIGN(const ManifestObject wanted, Find(object));
    if (const auto checked = Check(wanted); !checked) {
      return Fail(Explain(checked.error(), wanted).Wrap("nothing is installed"));
    }
  }
  return {};
}

base::Result<ManifestObject> Installation::Find(const text::Json& object) {
  TRY_ASSIGN(const api::Resource* resource, kinds_.Find(text::GetString(object, {"apiVersion"}),
                                                        text::GetString(object, {"kind"})));
  return ManifestObject{object, resource};
}

base::Status Installation::Put(const text::Json& object) {
  TRY_ASSIGN(const ManifestObject wanted, Find(object));
  const auto is_kept = IsKept(wanted);
  if (!is_kept) return Fail(Explain(is_kept.error(), wanted));
  if (*is_kept) {
    return Say(wanted, wanted.resource->kind == "Namespace"
                           ? "unchanged"
                           : "kept as it is: it is not muster's, but serves (--replace installs "
                             "muster's)");
  }
  const auto applied = Apply(wanted, flags_.is_server_dry_run());
  if (applied) return Say(wanted, applied->verb);
  if (flags_.is_server_dry_run() && applied.error().code == Code::kNotFound) {
    return Say(wanted, "created, unchecked: its namespace does not exist yet");
  }
  return Fail(Explain(applied.error(), wanted));
}

base::Status Installation::Await() {
  TRY_ASSIGN(const api::Resource* definitions,
             kinds_.Find("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
  if (!flags_.plan.is_namespaced) {
    const auto established = AwaitObject(
        client_, *definitions, "", "pytorchjobs.kubeflow.org", Timeout(),
        [](const text::Json& definition) { return MissingCondition(definition, "Established"); });
    if (!established) {
      return Fail(established.error().Wrap(
          "customresourcedefinition.apiextensions.k8s.io/pytorchjobs.kubeflow.org"));
    }
  }
  if (flags_.plan.is_crd_only) return {};
  const std::string& place = flags_.plan.namespace_name;
  const auto running = AwaitObject(client_, api::kDeployments, place, std::string(kOperatorName),
                                   Timeout(), MissingOfRollout);
  if (running) return {};
  base::Error error = running.error().Wrap(fmt::format("deployment.apps/{}", kOperatorName));
  cluster::ListOptions pods;
  pods.namespace_name = place;
  pods.label_selector = fmt::format("app.kubernetes.io/name={}", kOperatorName);
  if (const auto list = client_.List(api::kPods, pods); list) {
    if (const std::string why = WhyPodsWait(list->items); !why.empty()) {
      error.message += fmt::format(" ({})", why);
    }
  }
  return Fail(std::move(error));
}

base::Status PrintPlan(const std::vector<text::Json>& objects, const std::string& output,
                       cli::Output& out) {
  if (output == "json") {
    return out.Write(
        text::ToPrettyJson(text::Object{{"apiVersion", "v1"},
                                        {"kind", "List"},
                                        {"items", text::Array(objects.begin(), objects.end())}}) +
        "\n");
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    TRY(out.Write((i == 0 ? "" : "---\n") + text::ToYaml(objects[i])));
  }
  return {};
}

// Whether the cluster is the embedded one, which needs no operator; prints that.
base::Result<bool> IsEmbedded(Context& context, cli::Output& out) {
  if (context.choose) TRY(context.choose(context));
  if (!context.cluster_is_this_machine) return false;
  TRY(out.Write(
      "The embedded cluster has PyTorchJobs and their operator built in: nothing to install "
      "(`muster cluster` says which cluster commands talk to).\n"));
  return true;
}

base::Result<int> RunInstall(Context& context, InstallFlags flags, cli::Invocation& call) {
  InstallOptions& plan = flags.plan;
  plan.operator_args.assign(call.args.begin(), call.args.end());
  const bool asks_nobody = flags.dry_run == "client";
  if (!asks_nobody) {
    TRY_ASSIGN(const bool is_embedded, IsEmbedded(context, call.out));
    if (is_embedded) return 0;
  }
  if (!context.flags.namespace_name.empty()) plan.namespace_name = context.flags.namespace_name;
  cluster::Client* client = nullptr;
  if (!asks_nobody) {
    TRY_ASSIGN(client, context.connect(context));
  }
  if (plan.is_namespaced) plan.namespace_name = context.Namespace();
  // A user who has scaled it need not say so again.
  if (client != nullptr && !call.command.Changed("replicas")) {
    const auto live = client->Get(api::kDeployments, plan.namespace_name, kOperatorName);
    const int64_t count = live ? text::GetInt(*live, {"spec", "replicas"}).value_or(1) : 1;
    plan.replicas = std::max<int64_t>(count, 1);
  }
  TRY_ASSIGN(const auto objects, PlanInstall(plan));
  if (asks_nobody) {
    TRY(PrintPlan(objects, flags.output, call.out));
    return 0;
  }
  Installation installation(flags, *client, call.out);
  TRY(installation.CheckNamespaced());
  TRY(installation.CheckElsewhere());
  TRY(installation.CheckRival(objects));
  if (!flags.is_server_dry_run()) TRY(installation.CheckAll(objects));
  TRY(installation.CheckOther());
  for (const text::Json& object : objects) TRY(installation.Put(object));
  if (flags.is_server_dry_run()) return 0;
  if (flags.waits) TRY(installation.Await());
  if (plan.is_crd_only) return 0;
  TRY(call.out.Write(fmt::format(
      "The operator (image {}) {} in namespace {}{}. Next: {} submit pytorch --image=IMAGE ...\n",
      plan.image, flags.waits ? "runs" : "starts", plan.namespace_name,
      plan.is_namespaced ? ", for its jobs alone" : "", context.program)));
  return 0;
}

// Whether `muster operator` has the flags that follow `--`: its pods would fail at their start.
base::Status CheckOperatorFlags(const cli::Invocation& call) {
  cli::Command* const root = call.command.parent();
  cli::Command* const command = root == nullptr ? nullptr : root->FindChild("operator");
  if (command == nullptr) return {};
  std::vector<std::string_view> names;
  for (const cli::FlagSet* const set : {&command->flags(), &root->persistent_flags()}) {
    for (const auto& flag : set->flags()) names.push_back(flag->name());
  }
  for (const std::string& word : call.args) {
    if (!word.starts_with("--") || word.size() == 2) continue;
    const std::string_view name = std::string_view(word).substr(2, word.find('=') - 2);
    if (command->flags().Find(name) != nullptr) continue;
    if (root->persistent_flags().Find(name) != nullptr) continue;
    const auto nearest = base::Nearest(name, names);
    return Fail(Code::kInvalidArgument,
                fmt::format("-- {}: {} operator has no flag --{}{}", word, root->name(), name,
                            nearest.empty() ? "" : fmt::format(" (did you mean --{}?)", nearest)));
  }
  return {};
}

base::Status CheckInstallFlags(InstallFlags& flags, const cli::Invocation& call) {
  if (!call.args.empty() && call.dash.value_or(1) != 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: flags of the operator follow `--`", call.args.front()));
  }
  TRY(CheckOperatorFlags(call));
  const InstallOptions& plan = flags.plan;
  const auto refuse = [](std::string message) {
    return Fail(Code::kInvalidArgument, std::move(message));
  };
  if (flags.dry_run != "none" && flags.dry_run != "client" && flags.dry_run != "server") {
    return refuse(fmt::format("--dry-run={}: give none, client or server", flags.dry_run));
  }
  if (!flags.output.empty() && flags.output != "yaml" && flags.output != "json") {
    return refuse(fmt::format("--output={}: give yaml or json", flags.output));
  }
  if (!flags.output.empty() && flags.dry_run != "client") {
    return refuse("--output: prints the manifests of --dry-run; give that too");
  }
  if (plan.failure_policy != "Fail" && plan.failure_policy != "Ignore") {
    return refuse(fmt::format("--failure-policy={}: give Fail or Ignore", plan.failure_policy));
  }
  if (plan.replicas < 1 || plan.replicas > 10) return refuse("--replicas: must be 1 to 10");
  if (plan.image.empty()) return refuse("--image: must not be empty");
  if (!IsImageReference(plan.image)) {
    return refuse(fmt::format(
        "--image={}: is no image's name: it is like HOST/FOLDER/NAME:TAG, without blanks, and in "
        "small letters up to the tag",
        plan.image));
  }
  if (plan.is_crd_only && plan.is_namespaced) {
    return refuse("--crd-only, --namespaced: give one of the two");
  }
  if (plan.takes_status_posts && (plan.is_namespaced || plan.is_crd_only)) {
    return refuse(
        "--status-posts: tokens of pods can only be checked with cluster-wide "
        "permissions: leave out --namespaced and --crd-only");
  }
  if (flags.timeout <= std::chrono::nanoseconds(0)) return refuse("--timeout: must be above 0");
  return {};
}

void DeclareInstallFlags(cli::FlagSet& set, InstallFlags& flags) {
  InstallOptions& plan = flags.plan;
  set.String(&plan.image, "image", plan.image,
             "the operator's image, as the nodes can pull or find it (see above)");
  set.Int(&plan.replicas, "replicas", 1,
          "pods of the operator: one works, all answer the webhook; without it, an installed one "
          "keeps its number");
  set.Bool(&plan.is_crd_only, "crd-only", false,
           "only the definition of PyTorchJobs, and the roles that go with it");
  set.Bool(&plan.is_namespaced, "namespaced", false,
           "serve only the operator's own namespace (-n); needs no cluster-wide permissions");
  set.String(&plan.failure_policy, "failure-policy", "Fail",
             "what happens to new jobs while the webhook is down: Fail (refuse) or Ignore (no "
             "check)")
      .Choices({"Fail", "Ignore"});
  set.Bool(&plan.takes_status_posts, "status-posts", false,
           "the operator takes the progress that programs of jobs post, as transformers 5 does");
  set.Bool(&plan.has_monitoring, "service-monitor", false,
           "a ServiceMonitor for the Prometheus operator too");
  set.Bool(&flags.replaces, "replace", false,
           "take PyTorchJobs over from Kubeflow's training operator");
  set.Bool(&flags.force_conflicts, "force-conflicts", false,
           "overwrite fields that another manager has set to other values");
  set.Bool(&flags.waits, "wait", false, "return when the operator runs");
  set.Duration(&flags.timeout, "timeout", std::chrono::minutes(2),
               "how long --wait and --replace wait");
  set.Custom("dry-run", "", "print the manifests (client), or have the cluster check them (server)",
             [&flags](std::string_view value) -> base::Status {
               flags.dry_run = value == "true" ? "client" : value;
               return {};
             })
      .Choices({"none", "client", "server"});
  set.String(&flags.output, "output", "", "form of the manifests: yaml or json")
      .Short('o')
      .Choices({"yaml", "json"});
}

}  // namespace

void AddInstall(cli::Command& root, Context& context) {
  auto flags = std::make_shared<InstallFlags>();
  cli::Command& verb =
      root.Add("install [-- OPERATOR FLAGS]", "Install muster's operator on a Kubernetes cluster")
          .Help("arena/install/install", context.program);
  DeclareInstallFlags(verb.flags(), *flags);
  verb.Check([flags](cli::Invocation& call) { return CheckInstallFlags(*flags, call); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunInstall(context, *flags, call); });
}

}  // namespace arena
