#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/ownership.h"
#include "arena/app/trainer.h"
#include "arena/ending/deletion.h"
#include "arena/jobs/jobs.h"
#include "arena/listing/other_jobs.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct DeleteFlags {
  std::string type, selector;
  bool force = false, wait = true;
};

// The kind that -T names, by default PyTorchJobs; nullptr for one that the cluster cannot have.
base::Result<const api::Resource*> KindOf(const Context& context, const std::string& type) {
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(type));
  if (is_pytorch) return &api::kPyTorchJobs;
  return context.cluster_is_this_machine ? nullptr : OtherKindNamed(type);
}

// The names of the jobs of that kind with the labels of -l.
base::Result<std::vector<std::string>> NamesOf(cluster::Client& client, const Context& context,
                                               const DeleteFlags& flags) {
  TRY_ASSIGN(const api::Resource* const kind, KindOf(context, flags.type));
  cluster::ListOptions options;
  options.namespace_name = context.Namespace();
  TRY_ASSIGN(options.label_selector, VisibleSelector(client, context, flags.selector));
  base::Result<cluster::ObjectList> jobs = cluster::ObjectList();
  if (kind != nullptr) jobs = client.List(*kind, options);
  if (!jobs) return Fail(ListError(std::move(jobs.error()), options.namespace_name));
  std::vector<std::string> names;
  for (const text::Json& job : jobs->items) names.emplace_back(api::Name(job));
  if (names.empty()) base::LogInfo("No training job has the labels {}", flags.selector);
  return names;
}

// muster deletes only what it created, because it does not know what belongs to other objects.
int RefuseOther(const Context& context, const api::Resource& kind, const std::string& name) {
  base::LogError("{0} is a {1}, and muster deletes PyTorchJobs only: kubectl delete {2} {0} -n {3}",
                 name, kind.kind, kind.singular, context.Namespace());
  return cli::kExitFailure;
}

void SayMissing(const Context& context, const DeleteFlags& flags, const std::string& name) {
  // Arena logs it at this level if -T was given, and exits with 0 all the same.
  base::Log(flags.type.empty() ? base::LogLevel::kInfo : base::LogLevel::kError,
            fmt::format("The training job '{}' does not exist,skip to delete it{}", name,
                        MeantJob(context.program, name)));
}

// The server's own message, without a prefix: compat/arena.md 1.3.7.
base::Status CheckNamespaceStands(cluster::Client& client, const Context& context) {
  const std::string name = context.Namespace();
  if (CheckNamespace(client, context, name)) return {};
  return Fail(Code::kNotFound, fmt::format("namespaces \"{}\" not found", name));
}

// The jobs of that name that are no PyTorchJobs: of the kind that -T names, or else of every kind
// that the user may read.
base::Result<std::vector<OtherJob>> OthersNamed(cluster::Client& client, const Context& context,
                                                const DeleteFlags& flags, const std::string& name) {
  if (flags.type.empty()) return FindOthers(client, context, context.Namespace(), name);
  TRY_ASSIGN(const api::Resource* const kind, KindOf(context, flags.type));
  if (kind == nullptr || kind == &api::kPyTorchJobs) return std::vector<OtherJob>();
  auto job = client.Get(*kind, context.Namespace(), name);
  if (job) return std::vector<OtherJob>{{kind, *std::move(job)}};
  if (job.error().code == Code::kNotFound) return std::vector<OtherJob>();
  return Fail(GetError(std::move(job.error()), context.Namespace()));
}

// All deletions begin before the first is waited for, and one that fails does not stop the others.
base::Result<int> DeleteAll(cluster::Client& client, const Context& context,
                            const std::vector<std::string>& names, const DeleteFlags& flags) {
  TRY_ASSIGN(const api::Resource* const kind, KindOf(context, flags.type));
  // With -T Arena says nothing.
  const bool is_quiet = !flags.type.empty();
  // Arena does not say which job it is; of several, it has to be said.
  const bool is_bare = context.program == "arena" && names.size() == 1;
  const auto fail = [is_bare](const std::string& name, const base::Error& error) {
    base::LogError("{}", is_bare ? error.message : error.Wrap("the training job " + name).message);
    return cli::kExitFailure;
  };
  int exit_code = 0;
  std::vector<std::pair<std::string, Deletion>> begun;
  for (const std::string& name : names) {
    if (kind == &api::kPyTorchJobs) {
      Deletion deletion(client, context, context.Namespace(), name);
      const auto found = deletion.Begin();
      const base::Status forced =
          found && *found && flags.force ? deletion.Force() : base::Status();
      if (!found || !forced) {
        exit_code = fail(name, found ? forced.error() : found.error());
        continue;
      }
      if (*found) {
        begun.emplace_back(name, std::move(deletion));
        continue;
      }
    }
    const auto others = OthersNamed(client, context, flags, name);
    if (!others) {
      exit_code = fail(name, others.error());
      continue;
    }
    if (others->empty()) {
      TRY(CheckNamespaceStands(client, context));
      SayMissing(context, flags, name);
    }
    for (const OtherJob& other : *others) exit_code = RefuseOther(context, *other.kind, name);
  }
  if (begun.empty()) return exit_code;
  Ending ending(context, is_quiet);
  for (auto& [name, deletion] : begun) {
    if (const base::Status ended = deletion.AwaitEnd(flags.wait ? &ending : nullptr); !ended) {
      exit_code = fail(name, ended.error());
    } else if (!is_quiet) {
      base::LogInfo("The training job {} has been deleted successfully{}", name,
                    ending.IsLeft() ? "; its instances may still be ending" : "");
    }
  }
  return ending.IsLeft() ? ending.exit_code() : exit_code;
}

base::Result<int> RunDelete(Context& context, const DeleteFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  // The second of two equal names would be missing, or not, as the first one's job ends.
  std::vector<std::string> names;
  for (const std::string& name : call.args) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (!flags.selector.empty()) {
    TRY_ASSIGN(names, NamesOf(*client, context, flags));
  }
  return DeleteAll(*client, context, names, flags);
}

base::Status CheckFlags(const DeleteFlags& flags, cli::Invocation& call) {
  TRY(MeansPyTorch(flags.type));
  if (!call.command.Changed("selector")) return NeedJobName(call);
  TRY(CheckSelector(flags.selector));
  if (!call.args.empty()) {
    return Fail(Code::kInvalidArgument, "give either the jobs' names or --selector, not both");
  }
  return {};
}

}  // namespace

void AddDelete(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("delete JOB [JOB...]", "Delete training jobs and everything that belongs to them")
          .Aliases({"del"})
          .Help("arena/ending/delete", context.program);
  auto flags = std::make_shared<DeleteFlags>();
  AddTypeFlag(verb.flags(), &flags->type);
  verb.flags()
      .String(&flags->selector, "selector", "",
              "the jobs with these labels instead of names: a=b,c!=d")
      .Short('l');
  AddEndingFlags(verb.flags(), flags->force, flags->wait);
  verb.Check([flags](cli::Invocation& call) { return CheckFlags(*flags, call); });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunDelete(context, *flags, call); });
}

}  // namespace arena
