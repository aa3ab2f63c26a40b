#include <fmt/format.h>

#include <memory>
#include <set>

#include "arena/jobs/deletion.h"
#include "arena/jobs/jobs.h"
#include "arena/run/run_folder.h"
#include "arena/verbs.h"

namespace arena {
namespace {

struct PruneFlags {
  std::chrono::nanoseconds since{0};
  bool all_namespaces = false;
};

bool HasEnded(const TrainingJob& job) {
  return job.summary.status == "SUCCEEDED" || job.summary.status == "FAILED";
}

base::Status DeleteWhole(cluster::Client& client, const Context& context,
                         const api::TrainingSummary& job, Ending& ending) {
  Deletion deletion(client, context, job.namespace_name, job.name);
  TRY(deletion.Begin());
  return deletion.AwaitEnd(&ending);
}

// Of runs whose job is gone.
base::Status RemoveRunFolders(cluster::Client& client, const Context& context,
                              const PruneFlags& flags, cli::Output& out) {
  if (!context.cluster_is_this_machine || context.program == "arena") return {};
  TRY_ASSIGN(const std::vector<TrainingJob> left, ListSelectedJobs(client, context, "", ""));
  std::set<std::string> names;
  for (const TrainingJob& job : left) names.insert(job.summary.name);
  const auto age = std::chrono::duration_cast<base::Duration>(flags.since);
  for (const std::string& name : RunFolder::Prune(context.environment, age, names)) {
    TRY(out.Write(fmt::format("Delete files of run {}\n", name)));
  }
  return {};
}

// Arena deletes jobs that have not begun too; a job that waits or is suspended is kept here.
base::Result<int> RunPrune(Context& context, const PruneFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(const std::vector<TrainingJob> jobs,
             ListJobs(*client, context, flags.all_namespaces ? "" : context.Namespace()));
  const base::Time now = context.clock.Now();
  Ending ending(context, false);
  int exit_code = 0;
  bool has_found = false;
  for (const TrainingJob& job : jobs) {
    if (ending.IsLeft()) return ending.exit_code();
    const base::Duration age = now - job.summary.created;
    if (!HasEnded(job) || age < flags.since) continue;
    has_found = true;
    const std::string& name = job.summary.name;
    TRY(call.out.Write(
        fmt::format("Delete pytorchjob {} with Age {} \n", name, base::ShortDuration(age))));
    const base::Status deleted = DeleteWhole(*client, context, job.summary, ending);
    if (deleted) continue;
    TRY(call.out.Write(
        fmt::format("Failed to delete pytorchjob {}, err: {}\n", name, deleted.error().message)));
    exit_code = cli::kExitFailure;
  }
  if (!has_found) TRY(call.out.Write("No job need to be deleted\n"));
  TRY(RemoveRunFolders(*client, context, flags, call.out));
  return exit_code;
}

}  // namespace

void AddPrune(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("prune", "Delete the training jobs that ended and are older than --since")
          .Args(cli::NoArgs())
          .Example(fmt::format("  {} prune --since 72h", context.program));
  auto flags = std::make_shared<PruneFlags>();
  verb.flags()
      .Duration(&flags->since, "since", std::chrono::nanoseconds(0),
                "how old a job that ended must be, counted from its creation: 10h, 30m; needed")
      .Short('s');
  verb.flags()
      .Bool(&flags->all_namespaces, "all-namespaces", false, "of every namespace")
      .Short('A')
      .OldName("allNamespaces");
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    if (call.command.Changed("since") && flags->since >= std::chrono::nanoseconds(0)) return {};
    return base::Fail(base::Code::kInvalidArgument,
                      "you need to specify the relative duration live time of the job that need to "
                      "be cleaned by --since. Like --since 10h");
  });
  verb.Run([flags, &context](cli::Invocation& call) { return RunPrune(context, *flags, call); });
}

}  // namespace arena
