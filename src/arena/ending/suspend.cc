// `suspend` and `resume`: a job's runPolicy.suspend, and what follows from it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "api/job/training_summary.h"
#include "api/job/wait_for.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/app/trainer.h"
#include "arena/ending/ending.h"
#include "arena/jobs/job_watch.h"
#include "arena/jobs/jobs.h"
#include "arena/verbs.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

struct SuspendFlags {
  std::string type;
  bool force = false, wait = true;
};

bool IsSuspended(const text::Json& job) {
  return text::GetBool(job, {"spec", "runPolicy", "suspend"}).value_or(false);
}

std::string NothingToDo(const api::TrainingSummary& job, bool is_suspended) {
  if (is_suspended) return fmt::format("{} is suspended: nothing to suspend", job.name);
  return fmt::format("{} is {}: nothing to resume", job.name,
                     job.status == "RUNNING" ? "running" : "not suspended");
}

// Until no pod of the job is left, so that its resources are free. kConflict: it ended by itself,
// and may keep its pods.
base::Status AwaitNoPods(cluster::Client& client, const TrainingJob& job, Ending& ending) {
  const std::string uid(api::Uid(job.job));
  bool has_ended = false;
  JobWatch watch(client, job.summary.namespace_name, job.summary.name, PodSelector(job.job));
  ending.Await(watch, job.summary.name, [&](const JobWatch::Snapshot& now) -> size_t {
    // Deleted or resumed meanwhile: nothing to wait for.
    if (!now.job || !IsSuspended(*now.job)) return 0;
    has_ended = api::IsJobFinished(*now.job);
    if (has_ended) return 0;
    return static_cast<size_t>(
        std::count_if(now.pods.begin(), now.pods.end(),
                      [&](const auto& entry) { return api::ControllerUid(entry.second) == uid; }));
  });
  if (!has_ended) return {};
  return Fail(Code::kConflict,
              fmt::format("the job {} ended before it was suspended", job.summary.name));
}

base::Status EndInstances(cluster::Client& client, const Context& context, const TrainingJob& job,
                          const SuspendFlags& flags, std::optional<Ending>& ending) {
  const std::string uid(api::Uid(job.job));
  if (flags.force) {
    TRY(EndAtOnce(client, job.summary.namespace_name, PodSelector(job.job), uid));
  }
  if (!flags.wait) return {};
  if (!ending) ending.emplace(context, false);
  if (ending->IsLeft()) return {};
  return AwaitNoPods(client, job, *ending);
}

base::Status SetSuspended(cluster::Client& client, const Context& context, const std::string& name,
                          bool is_suspended, const SuspendFlags& flags,
                          std::optional<Ending>& ending) {
  TRY_ASSIGN(const TrainingJob job,
             FindJob(client, context, context.Namespace(), name, Pods::kIfAllowed));
  if (api::IsFinished(job.summary.status)) {
    return Fail(Code::kInvalidArgument,
                fmt::format("the job {} has ended ({}): submit it again to run it once more", name,
                            job.summary.status));
  }
  if (api::IsDeleting(job.job)) {
    return Fail(Code::kInvalidArgument, fmt::format("the job {} is being deleted", name));
  }
  if (is_suspended && flags.force && job.hidden_pods) return base::Fail(*job.hidden_pods);
  // Resuming a job by hand also ends its wait for other jobs.
  const bool waits = !api::AwaitedBy(job.job).empty();
  const bool is_so_already = IsSuspended(job.job) == is_suspended && !waits;
  if (!is_so_already) {
    const text::Json patch = text::Object{
        {"metadata",
         text::Object{{"annotations", text::Object{{api::kWaitForAnnotation, nullptr}}}}},
        {"spec", text::Object{{"runPolicy", text::Object{{"suspend", is_suspended}}}}}};
    TRY(client.Patch(api::kPyTorchJobs, job.summary.namespace_name, name,
                     cluster::PatchType::kMerge, patch));
  }
  if (is_suspended) TRY(EndInstances(client, context, job, flags, ending));
  base::LogInfo("The training job {}{}",
                is_so_already
                    ? NothingToDo(job.summary, is_suspended)
                    : fmt::format("{} has been {}", name, is_suspended ? "suspended" : "resumed"),
                ending && ending->IsLeft() ? "; its instances may still be ending" : "");
  return {};
}

base::Result<int> RunSuspend(Context& context, const SuspendFlags& flags, bool is_suspended,
                             cli::Invocation& call) {
  TRY_ASSIGN(const bool is_pytorch, MeansPyTorch(flags.type));
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  std::optional<Ending> ending;
  int exit_code = 0;
  for (const std::string& name : call.args) {
    const base::Status done =
        is_pytorch ? SetSuspended(*client, context, name, is_suspended, flags, ending)
                   : base::Status(Fail(NotFoundJob(context, context.Namespace(), name)));
    if (done) continue;
    base::LogError("{}", done.error().message);
    exit_code = cli::kExitFailure;
  }
  if (ending && ending->IsLeft()) return ending->exit_code();
  return exit_code;
}

void Add(cli::Command& verb, Context& context, bool is_suspended) {
  auto flags = std::make_shared<SuspendFlags>();
  AddTypeFlag(verb.flags(), &flags->type, "kind of the jobs: pytorchjob");
  if (is_suspended) AddEndingFlags(verb.flags(), flags->force, flags->wait);
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(NeedJobName(call));
    TRY(MeansPyTorch(flags->type));
    return {};
  });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([flags, &context, is_suspended](cli::Invocation& call) {
    return RunSuspend(context, *flags, is_suspended, call);
  });
}

}  // namespace

void AddSuspend(cli::Command& root, Context& context) {
  Add(root.Add("suspend JOB [JOB...]", "End the instances of training jobs until they are resumed")
          .Help("arena/ending/suspend", context.program),
      context, true);
}

void AddResume(cli::Command& root, Context& context) {
  Add(root.Add("resume JOB [JOB...]", "Run suspended training jobs again")
          .Help("arena/ending/resume", context.program),
      context, false);
}

}  // namespace arena
