#include "arena/run/interrupted_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "api/job/training_summary.h"
#include "api/job/wait_for.h"
#include "api/object.h"
#include "arena/app/program_name.h"
#include "arena/ending/ending.h"
#include "arena/jobs/job_watch.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/follow.h"
#include "arena/logs/live_output.h"
#include "arena/logs/log_merge.h"
#include "base/log.h"

namespace arena {

// If no thread can be started, a signal ends the program, and the job keeps running.
InterruptedRun::InterruptedRun(cluster::Client& client, const Context& context,
                               const text::Json& job, int64_t grace_seconds)
    : client_(client), context_(context), job_(job), grace_seconds_(grace_seconds) {
  signals_.emplace(std::initializer_list<int>{SIGINT, SIGTERM}, [this] { OnInterrupt(); });
}

InterruptedRun::~InterruptedRun() {
  signals_.reset();
  // The waiting thread ends the program with the exit code of an interrupted one.
  if (waiting_.joinable()) waiting_.join();
}

void InterruptedRun::OnInterrupt() {
  ++interrupts_;
  if (interrupts_ == 1) Suspend();
  if (interrupts_ == 2) Kill();
  if (interrupts_ <= 2) return;
  TakeAwayLiveLines();
  ::_exit(cli::kExitInterrupted);
}

void InterruptedRun::Suspend() {
  is_ending_ = true;
  const std::string name(api::Name(job_));
  base::LogInfo("stopping {}: SIGTERM now, SIGKILL after {} s; Ctrl-C again kills it at once", name,
                grace_seconds_);
  // Without this change, a job that waits for others would start by itself later.
  const text::Json patch = text::Object{
      {"metadata", text::Object{{"annotations", text::Object{{api::kWaitForAnnotation, nullptr}}}}},
      {"spec", text::Object{{"runPolicy", text::Object{{"suspend", true}}}}}};
  const auto stopped = client_.Patch(api::kPyTorchJobs, std::string(api::Namespace(job_)), name,
                                     cluster::PatchType::kMerge, patch);
  if (!stopped && stopped.error().code != base::Code::kNotFound) {
    TakeAwayLiveLines();
    base::LogError("{} could not be stopped, and keeps running: {}", name, stopped.error().message);
    ::_exit(cli::kExitInterrupted);
  }
  waiting_ = std::thread([this] { AwaitEnd(); });
}

void InterruptedRun::Kill() {
  const base::Status killed =
      EndAtOnce(client_, std::string(api::Namespace(job_)), PodSelector(job_), api::Uid(job_));
  if (!killed) base::LogError("{}", killed.error().message);
}

void InterruptedRun::AwaitEnd() {
  const std::string name(api::Name(job_));
  const std::string uid(api::Uid(job_));
  bool has_finished = false;
  JobWatch watch(client_, std::string(api::Namespace(job_)), name, PodSelector(job_));
  const bool has_ended = watch.Wait(
      std::chrono::seconds(grace_seconds_) + Ending::kPatience, [&](const JobWatch::Snapshot& now) {
        has_finished = now.job && api::IsJobFinished(*now.job);
        if (!now.job || has_finished) return true;
        return std::none_of(now.pods.begin(), now.pods.end(), [&](const auto& entry) {
          return api::ControllerUid(entry.second) == uid;
        });
      });
  if (has_finished) return;  // it was quicker: the follower reports how it ended
  // The last output of the replicas is still on its way.
  std::this_thread::sleep_for(LogMerge::kWindow);
  TakeAwayLiveLines();
  if (has_ended) {
    base::LogInfo(
        "{0} is stopped: `{1} resume {0}{2}` starts it again, `{1} delete {0}{2}` removes it", name,
        context_.program, FlagsOfPlace(context_));
  } else {
    base::LogWarn("{} is still stopping: `{} get {}{}` shows it", name, context_.program, name,
                  FlagsOfPlace(context_));
  }
  ::_exit(cli::kExitInterrupted);
}

}  // namespace arena
