#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/complete_names.h"
#include "arena/app/ownership.h"
#include "arena/submit/job/options.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct CreateFlags {
  std::string path, description, owner;
  bool read_only = false;
};

// In the API's order, as Arena prints them.
std::string AccessModes(const text::Json& claim) {
  std::vector<std::string> found;
  for (const std::string_view mode :
       {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}) {
    for (const text::Json& entry : text::Items(claim, {"spec", "accessModes"})) {
      if (text::GetString(entry, {}) == mode) found.emplace_back(mode);
    }
  }
  return base::Join(found, ",");
}

base::Result<int> RunList(Context& context, bool all_namespaces, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  cluster::ListOptions options;
  options.namespace_name = all_namespaces ? "" : context.Namespace();
  auto claims = client->List(api::kPersistentVolumeClaims, options);
  if (!claims) {
    return Fail(claims.error().code,
                fmt::format("failed to list data volume due to {}", claims.error().message));
  }
  if (claims->items.empty() && !all_namespaces) {
    TRY(CheckNamespace(*client, context, options.namespace_name));
  }
  cli::Table table;
  const auto add = [&](std::vector<std::string> cells, std::string namespace_name) {
    if (all_namespaces) cells.insert(cells.begin() + 1, std::move(namespace_name));
    table.Row(std::move(cells));
  };
  add({"NAME", "ACCESSMODE", "DESCRIPTION", "OWNER", "AGE"}, "NAMESPACE");
  for (const text::Json& claim : claims->items) {
    if (text::GetString(claim, {"status", "phase"}) != "Bound" || api::IsDeleting(claim)) continue;
    const base::Time created = api::CreationTime(claim).value_or(context.clock.Now());
    add({std::string(api::Name(claim)), AccessModes(claim),
         std::string(api::Annotation(claim, "description")),
         std::string(api::Annotation(claim, "owner")),
         base::ShortDuration(context.clock.Now() - created)},
        std::string(api::Namespace(claim)));
  }
  TRY(call.out.Write(table.Render()));
  return 0;
}

base::Status CheckPath(const std::string& path) {
  if (!path.starts_with('/')) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--path is invalid: '{}' must be absolute", path));
  }
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return Fail(base::Errno(errno, fmt::format("--path is invalid: '{}'", path)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--path is invalid: '{}' is not a directory", path));
  }
  return {};
}

base::Result<int> RunCreate(Context& context, const CreateFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  if (!context.cluster_is_this_machine) {
    return Fail(
        Code::kInvalidArgument,
        "a directory of this machine is not a volume of another cluster: create the claim there "
        "with kubectl");
  }
  const std::string& name = call.args[0];
  const std::string namespace_name = context.Namespace();
  text::Object annotations{{api::kVolumePathAnnotation, flags.path}};
  if (!flags.description.empty()) annotations["description"] = flags.description;
  if (!flags.owner.empty()) annotations["owner"] = flags.owner;
  const text::Json claim = text::Object{
      {"apiVersion", "v1"},
      {"kind", "PersistentVolumeClaim"},
      {"metadata",
       text::Object{{"name", name}, {"namespace", namespace_name}, {"annotations", annotations}}},
      {"spec", text::Object{
                   {"accessModes", text::Array{flags.read_only ? "ReadOnlyMany" : "ReadWriteMany"}},
                   {"resources", text::Object{{"requests", text::Object{{"storage", "1Gi"}}}}}}}};
  const auto created = client->Create(api::kPersistentVolumeClaims, namespace_name, claim);
  if (!created) {
    if (created.error().code == Code::kAlreadyExists) {
      return Fail(
          Code::kAlreadyExists,
          fmt::format(
              "the data {} is already exist, please delete it first. use '{} data delete {}'", name,
              context.program, name));
    }
    return Fail(created.error());
  }
  TRY(call.out.Write(fmt::format("persistentvolumeclaim/{} created\n", name)));
  base::LogInfo("Use it with `--data={}:/mount/path` of `{} submit`", name, context.program);
  return 0;
}

// Whether a pod or a pod template mounts the claim.
bool MountsClaim(const text::Json& pod, const std::string& claim) {
  return std::ranges::any_of(text::Items(pod, {"spec", "volumes"}), [&](const text::Json& volume) {
    return text::GetString(volume, {"persistentVolumeClaim", "claimName"}) == claim;
  });
}

// The users of a claim: unfinished jobs, and running pods of any job (the TensorBoard of a finished
// job).
base::Result<std::vector<std::string>> UsersOf(cluster::Client& client,
                                               const std::string& namespace_name,
                                               const std::string& claim) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  std::set<std::string> users;
  TRY_ASSIGN(const cluster::ObjectList jobs, client.List(api::kPyTorchJobs, options));
  for (const text::Json& job : jobs.items) {
    if (api::IsJobFinished(job)) continue;
    for (const auto& [type, replica] : text::Members(job, {"spec", "pytorchReplicaSpecs"})) {
      const text::Json* pod = text::Find(replica, {"template"});
      if (pod != nullptr && MountsClaim(*pod, claim)) {
        users.insert(fmt::format("job {}", api::Name(job)));
      }
    }
  }
  TRY_ASSIGN(const cluster::ObjectList pods, client.List(api::kPods, options));
  for (const text::Json& pod : pods.items) {
    if (api::IsPodFinished(pod) || !MountsClaim(pod, claim)) continue;
    std::string_view job = api::Label(pod, api::kJobNameLabel);
    if (job.empty()) job = api::Label(pod, "release");
    users.insert(job.empty() ? fmt::format("pod {}", api::Name(pod)) : fmt::format("job {}", job));
  }
  return std::vector<std::string>(users.begin(), users.end());
}

base::Status DeleteClaim(cluster::Client& client, const std::string& namespace_name,
                         const text::Json& claim) {
  const std::string name(api::Name(claim));
  if (api::Annotation(claim, api::kVolumePathAnnotation).empty()) {
    // Deleting a claim could destroy its volume's data; this verb only removes mappings to
    // directories.
    return Fail(Code::kInvalidArgument,
                fmt::format("{} was not created by `data create`: delete it with kubectl", name));
  }
  TRY_ASSIGN(const std::vector<std::string> users, UsersOf(client, namespace_name, name));
  if (!users.empty()) {
    return Fail(Code::kConflict,
                fmt::format("the data {} is in use by {}: delete {} first", name,
                            base::Join(users, ", "), users.size() == 1 ? "that" : "those"));
  }
  return client.Delete(api::kPersistentVolumeClaims, namespace_name, name);
}

base::Result<int> RunDelete(Context& context, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  int exit_code = 0;
  for (const std::string& name : call.args) {
    const auto claim = client->Get(api::kPersistentVolumeClaims, context.Namespace(), name);
    if (!claim && claim.error().code == Code::kNotFound) {
      base::LogInfo("The data '{}' does not exist,skip to delete it", name);
      continue;
    }
    const base::Status deleted = claim ? DeleteClaim(*client, context.Namespace(), *claim)
                                       : base::Status(Fail(claim.error()));
    if (!deleted) {
      base::LogError("{}", deleted.error().message);
      exit_code = cli::kExitFailure;
      continue;
    }
    TRY(call.out.Write(fmt::format("persistentvolumeclaim/{} deleted\n", name)));
  }
  return exit_code;
}

}  // namespace

void AddData(cli::Command& root, Context& context) {
  cli::Command& data = root.Add("data", "Manage the data volumes that jobs mount with --data");
  cli::Command& list = data.Add("list", "List the data volumes")
                           .Aliases({"ls"})
                           .Args(cli::NoArgs())
                           .Help("arena/objects/data_list", context.program);
  auto all_namespaces = std::make_shared<bool>();
  list.flags().Bool(all_namespaces.get(), "all-namespaces", false, "in every namespace").Short('A');
  list.flags().Bool(all_namespaces.get(), "allNamespaces", false, "in every namespace").Hidden();
  list.Run([&context, all_namespaces](cli::Invocation& call) {
    return RunList(context, *all_namespaces, call);
  });

  cli::Command& create = data.Add("create NAME", "Give a directory of this machine a name")
                             .Args(cli::ExactArgs(1))
                             .Help("arena/objects/data_create", context.program);
  auto flags = std::make_shared<CreateFlags>();
  create.flags().String(&flags->path, "path", "", "the directory, absolute").Required();
  create.flags().String(&flags->description, "description", "", "a description");
  create.flags().String(&flags->owner, "owner", "", "who owns it");
  create.flags().Bool(&flags->read_only, "read-only", false, "jobs cannot write to it");
  create.Check([flags](cli::Invocation& call) -> base::Status {
    // For a claim, each part between dots begins and ends with a letter or digit.
    if (!api::IsObjectName(call.args[0])) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("the name \"{}\" is invalid: use lower case letters, digits, '-' and '.'",
                      call.args[0]));
    }
    return CheckPath(flags->path);
  });
  create.Run([&context, flags](cli::Invocation& call) { return RunCreate(context, *flags, call); });

  cli::Command& erase =
      data.Add("delete NAME [NAME...]", "Forget a data volume; the directory stays")
          .Aliases({"del"})
          .Args(cli::MinArgs(1))
          .Help("arena/objects/data_delete", context.program);
  erase.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteDataNames(context); });
  erase.Run([&context](cli::Invocation& call) { return RunDelete(context, call); });
}

}  // namespace arena
