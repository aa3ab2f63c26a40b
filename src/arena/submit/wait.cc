#include "arena/submit/wait.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "answers/verdict.h"
#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "api/stall.h"
#include "arena/app/program_name.h"
#include "arena/jobs/job_watch.h"
#include "arena/jobs/jobs.h"
#include "arena/listing/records.h"
#include "arena/logs/evidence.h"
#include "arena/logs/follow.h"
#include "arena/logs/live_output.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// A job, as seen by a command that waits for its end.
struct Sight {
  bool is_gone = false;
  api::TrainingSummary summary;
  std::string stall;  // what its annotation says, without the time
};

Sight SightOf(const JobWatch::Snapshot& now, const std::string& uid, const Context& context) {
  Sight sight;
  sight.is_gone = !now.job || api::Uid(*now.job) != uid;
  if (sight.is_gone) return sight;
  std::vector<const text::Json*> pods;
  for (const auto& [pod_name, pod] : now.pods) {
    if (api::IsPodOfJob(pod, *now.job)) pods.push_back(&pod);
  }
  sight.summary = api::Summarize(*now.job, pods, context.clock.Now());
  sight.summary.reason = UseProgramName(context, ReasonToShow(sight.summary));
  sight.stall = api::TextOfStall(api::Annotation(*now.job, api::kStallAnnotation));
  // How late a rank is changes again and again while the job goes on: it is said once.
  if (sight.stall.starts_with(api::kSlowed)) sight.stall = api::kSlowed;
  return sight;
}

// Blocks until the job has ended or is gone; says meanwhile why it does not begin.
base::Result<Sight> WatchToEnd(cluster::Client& client, const Context& context,
                               const text::Json& job, const std::atomic<bool>* is_ending) {
  const std::string name(api::Name(job));
  const std::string uid(api::Uid(job));
  const std::string namespace_name(api::Namespace(job));
  JobWatch watch(client, namespace_name, name, PodSelector(job));
  JobProbe probe(client, namespace_name, name);
  Sight sight;
  std::string reported;
  const auto is_over = [&] { return sight.is_gone || api::IsFinished(sight.summary.status); };
  std::string reported_stall;
  const auto waits = [&] {
    return api::IsWaiting(sight.summary.status) && !sight.summary.reason.empty() &&
           sight.summary.reason != reported;
  };
  const auto restarts = [&] {
    return sight.summary.status == "RUNNING" && sight.stall.empty() &&
           !sight.summary.reason.empty() && sight.summary.reason != reported;
  };
  const auto is_news = [&] { return waits() || restarts() || sight.stall != reported_stall; };
  do {
    const bool has_changed = watch.Wait(kProbeInterval, [&](const JobWatch::Snapshot& now) {
      sight = SightOf(now, uid, context);
      return is_over() || is_news();
    });
    if (!has_changed) {
      TRY(probe.Look(watch));
    } else if (is_over()) {
      break;
    } else if (waits()) {
      reported = sight.summary.reason;
      if (is_ending != nullptr && *is_ending) continue;
      base::LogInfo("the job {} waits: {}", name, reported);
    } else if (restarts()) {
      reported = sight.summary.reason;
      base::LogWarn("the job {}: {}", name, reported);
    } else {
      const bool was_slowed = std::exchange(reported_stall, sight.stall) == api::kSlowed;
      if (reported_stall.empty()) {
        if (!was_slowed) base::LogInfo("the job {} goes on", name);
      } else {
        base::LogWarn("the job {} is {}", name, sight.summary.reason);
      }
    }
  } while (!is_over());
  return sight;
}

}  // namespace

// In one line, if the verdict is certain.
void SayWhy(cluster::Client& client, const Context& context, const std::string& name) {
  const auto run = FindRun(client, context, name);
  if (!run) return;
  const answers::Verdict verdict = VerdictOf(client, context, *run).verdict;
  if (verdict.kind == answers::kUnknown) return;
  base::LogInfo("`{} explain {}`: {}{}. {}", context.program, name, verdict.title,
                verdict.file.empty() ? "" : fmt::format(", {}:{}", verdict.file, verdict.file_line),
                verdict.advice_text);
}

base::Status FollowChief(cluster::Client& client, const Context& context, const text::Json& job,
                         const std::string& chief, cli::Output& out,
                         const std::atomic<bool>* is_ending) {
  FollowRequest request;
  request.namespace_name = api::Namespace(job);
  request.job = api::Name(job);
  request.pod_selector = PodSelector(job);
  request.instance = chief;
  request.is_ending = is_ending;
  LineChoice choice;
  if (context.program != "arena") choice.map = RankMap::Of(job);
  LiveLines lines(client, context, job, std::move(choice), chief, false, out);
  request.watch = lines.watch();
  TRY(Follow(client, context, request, lines));
  return lines.Finish();
}

base::Result<int> AwaitEnd(cluster::Client& client, const Context& context, const text::Json& job,
                           FailedCode failed, const std::atomic<bool>* is_ending) {
  const std::string name(api::Name(job));
  auto end = WatchToEnd(client, context, job, is_ending);
  if (!end) {
    return Fail(end.error().Wrap(fmt::format(
        "the job {0} can no longer be followed (`{1} get {0}` shows it)", name, context.program)));
  }
  if (end->is_gone) return Fail(Code::kNotFound, fmt::format("the job {} was deleted", name));
  // When a job of another cluster is gone, only what this machine saw of it is known.
  if (!context.cluster_is_this_machine) (void)FindRun(client, context, name);
  if (end->summary.status == "SUCCEEDED") {
    base::LogInfo("The Job {} has succeeded", name);
    return 0;
  }
  std::string reason = end->summary.reason;
  // The watch of the pods may be behind the one of the job, and they know why.
  const auto whole = FindJob(client, context, std::string(api::Namespace(job)), name);
  if (whole && whole->summary.uid == api::Uid(job) && !whole->summary.reason.empty()) {
    reason = whole->summary.reason;
  }
  base::LogError("the job {} has failed{}{}", name, reason.empty() ? "" : ": ", reason);
  const api::FailedReplica first = api::ReadFailure(reason);
  // `run` has just printed it.
  if (failed != FailedCode::kReplicas && !first.instance.empty()) {
    base::LogInfo("`{} logs {}{}` prints the log of {}, which failed first", context.program, name,
                  FlagsOfPlace(context), first.instance);
  }
  if (context.program != "arena") SayWhy(client, context, name);
  const int code = first.exit_code.value_or(0);
  return failed == FailedCode::kReplicas && code > 0 ? code : cli::kExitFailure;
}

}  // namespace arena
