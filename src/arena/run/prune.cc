#include <fmt/format.h>

#include <memory>
#include <set>

#include "api/object.h"
#include "arena/ending/deletion.h"
#include "arena/folder/run_folder.h"
#include "arena/folder/run_note.h"
#include "arena/jobs/jobs.h"
#include "arena/listing/records.h"
#include "arena/verbs.h"
#include "base/file.h"
#include "base/machine/disk.h"
#include "base/quantity.h"

namespace arena {
namespace {

struct PruneFlags {
  std::chrono::nanoseconds since{0};
  std::string size_text;
  int64_t keep = 0, size = 0;
  bool has_since = false, has_keep = false, has_size = false;
  bool all_namespaces = false;
  bool only_gone = false;  // only runs whose jobs were deleted: the daemon asks for this
};

bool HasEnded(const TrainingJob& job) { return api::IsFinished(job.summary.status); }

base::Status DeleteWhole(cluster::Client& client, const Context& context,
                         const api::TrainingSummary& job, Ending& ending) {
  Deletion deletion(client, context, job.namespace_name, job.name);
  TRY(deletion.Begin());
  return deletion.AwaitEnd(&ending);
}

// Decides which runs stay; it is asked about the newest first.
class Budget {
 public:
  Budget(const PruneFlags& flags, base::Time now) : flags_(flags), now_(now) {}
  bool Keeps(base::Time created, int64_t bytes) {
    const bool is_old = flags_.has_since && now_ - created >= flags_.since;
    const bool is_one_too_many = flags_.has_keep && count_ >= flags_.keep;
    const bool is_too_large = flags_.has_size && bytes_ + bytes > flags_.size;
    if (is_old || is_one_too_many || is_too_large) return false;
    ++count_;
    bytes_ += bytes;
    return true;
  }

 private:
  const PruneFlags& flags_;
  const base::Time now_;
  int64_t count_ = 0;
  int64_t bytes_ = 0;
};

std::string FolderOfRecord(const Context& context, const text::Json& pod) {
  return fmt::format("{}/records/{}", context.environment.StateDir(), api::Uid(pod));
}

std::string FolderOfPod(const Context& context, const text::Json& pod) {
  return fmt::format("{}/pods/{}", context.environment.StateDir(), api::Uid(pod));
}

int64_t SizeOf(const Context& context, const RunRecord& run) {
  int64_t bytes = 0;
  const std::string folder = RunFolderOf(run.job.job, context.environment);
  if (!folder.empty()) bytes += base::DiskUse(folder);
  for (const text::Json& pod : run.past_pods) bytes += base::DiskUse(FolderOfRecord(context, pod));
  for (const text::Json& pod : run.job.pods) {
    bytes += base::DiskUse(FolderOfPod(context, pod));
  }
  return bytes;
}

// Removes a run whose job is gone, with its logs and its folder.
base::Status Forget(cluster::Client& client, const Context& context, const RunRecord& run) {
  TRY(ForgetRun(client, context, run.job.job));
  for (const text::Json& pod : run.past_pods) {
    // The daemon may be about to move them to the record.
    TRY(base::RemoveTree(FolderOfPod(context, pod) + "/logs"));
    TRY(base::RemoveTree(FolderOfRecord(context, pod)));
  }
  const std::string folder = RunFolderOf(run.job.job, context.environment);
  return folder.empty() ? base::Status() : base::RemoveTree(folder);
}

// Removes the folders of forgotten runs, and copies of code that no run needs any more.
base::Status RemoveRunFolders(cluster::Client& client, const Context& context,
                              const PruneFlags& flags, cli::Output& out) {
  TRY_ASSIGN(const KnownRuns left, ListRuns(client, context, "", 0));
  std::set<std::string> names;
  for (const RunRecord& run : left.runs) names.insert(run.job.summary.name);
  const auto age = flags.has_since ? std::chrono::duration_cast<base::Duration>(flags.since)
                                   : base::Duration::max();
  for (const std::string& name : RunFolder::Prune(context.environment, age, names)) {
    TRY(out.Write(fmt::format("Delete files of run {}\n", name)));
  }
  return {};
}

class Pruning {
 public:
  Pruning(cluster::Client& client, Context& context, const PruneFlags& flags, cli::Output& out)
      : client_(client), context_(context), flags_(flags), out_(out), ending_(context, false) {}

  base::Result<int> Run() {
    const std::string in = flags_.all_namespaces ? "" : context_.Namespace();
    if (!remembers_) return RunJobsAlone(in);
    TRY_ASSIGN(KnownRuns known, ListRuns(client_, context_, in, 0));
    Budget budget(flags_, context_.clock.Now());
    for (RunRecord& run : known.runs) {
      if (ending_.IsLeft()) return ending_.exit_code();
      if (!run.deleted && (flags_.only_gone || !HasEnded(run.job))) continue;
      int64_t bytes = 0;
      if (flags_.has_size) {
        TRY(ReadWhole(client_, context_, run));
        bytes = SizeOf(context_, run);
      }
      if (budget.Keeps(run.job.summary.created, bytes)) continue;
      TRY(Remove(run));
    }
    if (!has_found_ && !flags_.only_gone) TRY(out_.Write("No job need to be deleted\n"));
    if (context_.cluster_is_this_machine) {
      TRY(RemoveRunFolders(client_, context_, flags_, out_));
    }
    return exit_code_;
  }

 private:
  // Arena also deletes jobs that have not started; here a waiting or suspended job is kept.
  base::Result<int> RunJobsAlone(const std::string& in) {
    TRY_ASSIGN(const std::vector<TrainingJob> jobs, ListJobs(client_, context_, in));
    Budget budget(flags_, context_.clock.Now());
    for (const TrainingJob& job : jobs) {
      if (ending_.IsLeft()) return ending_.exit_code();
      if (HasEnded(job) && !budget.Keeps(job.summary.created, 0)) TRY(Delete(job.summary));
    }
    if (!has_found_) TRY(out_.Write("No job need to be deleted\n"));
    return exit_code_;
  }

  base::Status Delete(const api::TrainingSummary& job) {
    has_found_ = true;
    const base::Duration age = context_.clock.Now() - job.created;
    TRY(out_.Write(
        fmt::format("Delete pytorchjob {} with Age {} \n", job.name, base::ShortDuration(age))));
    const base::Status deleted = DeleteWhole(client_, context_, job, ending_);
    return deleted ? deleted : Fail("pytorchjob " + job.name, deleted.error());
  }

  base::Status Remove(RunRecord& run) {
    const std::string id = fmt::format("run {} ({})", run.job.summary.name, run.id());
    TRY(ReadWhole(client_, context_, run));
    if (run.deleted) {
      has_found_ = true;
      TRY(out_.Write(fmt::format("Delete what is remembered of {}\n", id)));
    } else {
      const int before = exit_code_;
      TRY(Delete(run.job.summary));
      if (exit_code_ != before) return {};
      // Deleting the job has turned its pods into remembered ones.
      run.past_pods.insert(run.past_pods.end(), run.job.pods.begin(), run.job.pods.end());
    }
    const base::Status forgotten = Forget(client_, context_, run);
    return forgotten ? forgotten : Fail(id, forgotten.error());
  }

  base::Status Fail(const std::string& what, const base::Error& error) {
    exit_code_ = cli::kExitFailure;
    return out_.Write(fmt::format("Failed to delete {}, err: {}\n", what, error.message));
  }

  cluster::Client& client_;
  Context& context_;
  const PruneFlags& flags_;
  cli::Output& out_;
  Ending ending_;
  const bool remembers_ = context_.program != "arena";
  int exit_code_ = 0;
  bool has_found_ = false;
};

base::Result<int> RunPrune(Context& context, const PruneFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  return Pruning(*client, context, flags, call.out).Run();
}

}  // namespace

void AddPrune(cli::Command& root, Context& context) {
  const bool is_arena = context.program == "arena";
  cli::Command& verb =
      root.Add("prune", is_arena ? "Delete the training jobs that ended and are older than --since"
                                 : "Delete ended jobs and forget runs, by age, number or size")
          .Args(cli::NoArgs())
          .Help("arena/run/prune", context.program);
  auto flags = std::make_shared<PruneFlags>();
  cli::FlagSet& set = verb.flags();
  set.Duration(&flags->since, "since", std::chrono::nanoseconds(0),
               is_arena
                   ? "how old a job that ended must be, counted from its creation: 10h, 30m; needed"
                   : "minimum age since its creation: 10h, 30m")
      .Short('s');
  set.Bool(&flags->all_namespaces, "all-namespaces", false, "in every namespace")
      .Short('A')
      .OldName("allNamespaces");
  if (!is_arena) {
    set.Int(&flags->keep, "keep", 0, "keep this many, the newest");
    set.String(&flags->size_text, "size", "", "keep the newest ones up to this size: 5G");
    set.Bool(&flags->only_gone, "gone", false, "").Hidden();
  }
  verb.Check([flags, is_arena](cli::Invocation& call) -> base::Status {
    flags->has_since = call.command.Changed("since");
    flags->has_keep = call.command.Changed("keep");
    flags->has_size = call.command.Changed("size");
    if (flags->has_keep && flags->keep < 0) {
      return base::Fail(base::Code::kInvalidArgument, "--keep is invalid: it must be at least 0");
    }
    if (flags->has_size) {
      const auto size = base::ParseQuantity(flags->size_text);
      if (!size) return base::Fail(size.error().Wrap("--size"));
      flags->size = *size;
    }
    const bool is_given = flags->has_since || flags->has_keep || flags->has_size;
    if (is_given && flags->since >= std::chrono::nanoseconds(0)) return {};
    return base::Fail(
        base::Code::kInvalidArgument,
        is_arena || flags->has_since
            ? "you need to specify the relative duration live time of the job that need to be "
              "cleaned by --since. Like --since 10h"
            : "say what to delete: --since 72h, --keep 100 or --size 5G");
  });
  verb.Run([flags, &context](cli::Invocation& call) { return RunPrune(context, *flags, call); });
}

}  // namespace arena
