#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/job/pytorch_job.h"
#include "api/object.h"
#include "arena/install/install_plan.h"
#include "arena/install/installed_place.h"
#include "arena/objects/manifest_objects.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct UninstallFlags {
  bool deletes_definition = false;
  bool deletes_namespace = false;
  bool is_namespaced = false;
};

base::Status CheckNoJobs(cluster::Client& client) {
  cluster::ListOptions all;
  const auto jobs = client.List(api::kPyTorchJobs, all);
  // The definition may have been deleted already.
  if (!jobs && jobs.error().code == Code::kInvalidArgument) return {};
  if (!jobs) return Fail(jobs.error());
  if (jobs->items.empty()) return {};
  const text::Json& first = jobs->items.front();
  return Fail(Code::kInvalidArgument,
              fmt::format("--crd: {} PyTorchJobs would be deleted with their definition, the first "
                          "is {}/{}: delete them first, or leave --crd out",
                          jobs->items.size(), api::Namespace(first), api::Name(first)));
}

// Another namespace's operator would lose its webhook and permissions.
base::Status CheckPlace(cluster::Client& client, KindFinder& kinds, const InstallOptions& plan) {
  if (plan.is_namespaced) return {};
  TRY_ASSIGN(const std::string place, PlaceOfOperator(client, kinds));
  if (place.empty() || place == plan.namespace_name) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("nothing is uninstalled: the operator is installed in namespace {0}: give "
                  "-n {0}, or --namespaced for an operator of namespace {1} alone",
                  place, plan.namespace_name));
}

// Deletes an object of ours and prints that. True when it existed.
base::Result<bool> Remove(cluster::Client& client, const ManifestObject& object, cli::Output& out) {
  const auto live = FindLive(client, object);
  if (!live) return Fail(live.error().Wrap(object.Label()));
  if (!*live) return false;
  if (!IsOurs(**live)) {
    base::LogWarn("{} stays: it was not made by muster install", object.Label());
    return false;
  }
  const auto deleted =
      client.Delete(*object.resource, api::Namespace(object.object), api::Name(object.object));
  if (!deleted && deleted.error().code != Code::kNotFound) {
    return Fail(deleted.error().Wrap(object.Label()));
  }
  TRY(out.Write(fmt::format("{} deleted\n", object.Label())));
  return true;
}

bool Stays(const text::Json& object, const UninstallFlags& flags) {
  const std::string_view kind = text::GetString(object, {"kind"});
  return (IsOfDefinition(object) && !flags.deletes_definition) ||
         (kind == "Namespace" && !flags.deletes_namespace);
}

base::Result<int> RunUninstall(Context& context, const UninstallFlags& flags,
                               cli::Invocation& call) {
  if (context.choose) TRY(context.choose(context));
  if (context.cluster_is_this_machine) {
    TRY(call.out.Write("The embedded cluster's operator is built in: nothing to uninstall.\n"));
    return 0;
  }
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  InstallOptions plan;
  plan.is_namespaced = flags.is_namespaced;
  plan.has_monitoring = true;
  plan.takes_status_posts = !flags.is_namespaced;
  if (!context.flags.namespace_name.empty()) plan.namespace_name = context.flags.namespace_name;
  if (plan.is_namespaced) plan.namespace_name = context.Namespace();
  TRY_ASSIGN(auto objects, PlanInstall(plan));
  KindFinder kinds(*client, false);
  TRY(CheckPlace(*client, kinds, plan));
  if (flags.deletes_definition) TRY(CheckNoJobs(*client));
  // The webhook is deleted first, so that no job is refused because nobody answers; the permissions
  // last.
  std::reverse(objects.begin(), objects.end());
  bool was_there = false;
  for (text::Json& object : objects) {
    if (Stays(object, flags)) continue;
    const auto resource =
        kinds.Find(text::GetString(object, {"apiVersion"}), text::GetString(object, {"kind"}));
    // A kind that the cluster does not have has no objects.
    if (!resource && resource.error().code == Code::kInvalidArgument) continue;
    if (!resource) return Fail(resource.error());
    TRY_ASSIGN(const bool is_removed, Remove(*client, {std::move(object), *resource}, call.out));
    was_there |= is_removed;
  }
  if (!was_there) {
    TRY(call.out.Write(
        fmt::format("Nothing of muster is installed in namespace {}.\n", plan.namespace_name)));
  }
  return 0;
}

}  // namespace

void AddUninstall(cli::Command& root, Context& context) {
  auto flags = std::make_shared<UninstallFlags>();
  cli::Command& verb = root.Add("uninstall", "Remove muster's operator from a Kubernetes cluster")
                           .Help("arena/install/uninstall", context.program)
                           .Args(cli::NoArgs());
  verb.flags().Bool(&flags->deletes_definition, "crd", false,
                    "the definition of PyTorchJobs and its roles too, when there are no jobs");
  verb.flags().Bool(&flags->deletes_namespace, "delete-namespace", false,
                    "the namespace too, with everything in it");
  verb.flags().Bool(&flags->is_namespaced, "namespaced", false,
                    "an operator that was installed with --namespaced");
  verb.Run(
      [flags, &context](cli::Invocation& call) { return RunUninstall(context, *flags, call); });
}

}  // namespace arena
