#include "arena/run/interrupted_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>

#include "api/job/training_summary.h"
#include "api/job/wait_for.h"
#include "api/object.h"
#include "arena/ending/ending.h"
#include "arena/jobs/job_watch.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/follow.h"
#include "arena/logs/live_output.h"
#include "arena/logs/log_merge.h"
#include "base/block_signals.h"
#include "base/log.h"
#include "process/signals.h"

namespace arena {
namespace {

constexpr std::chrono::milliseconds kSameRequest{100};

}  // namespace

InterruptedRun::InterruptedRun(cluster::Client& client, const Context& context,
                               const text::Json& job, int64_t grace_seconds)
    : client_(client),
      context_(context),
      job_(job),
      grace_seconds_(grace_seconds),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  auto signals = process::OpenSignalFd({SIGINT, SIGTERM});
  if (!signals || !stop_) return;  // a signal ends the program then, and the job runs on
  signals_ = *std::move(signals);
  const base::BlockSignals block;
  thread_ = std::thread([this] { TakeSignals(); });
}

InterruptedRun::~InterruptedRun() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  // It ends the program, with the exit code of an interrupted one.
  if (waiting_.joinable()) waiting_.join();
  sigset_t taken;
  ::sigemptyset(&taken);
  ::sigaddset(&taken, SIGINT);
  ::sigaddset(&taken, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &taken, nullptr);
}

void InterruptedRun::TakeSignals() {
  for (;;) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(fds, std::size(fds), -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    while (const auto signal = process::ReadSignal(signals_.get())) {
      // timeout(1) sends one request twice, to the process and to its group. What a terminal sends
      // has no sender.
      const auto second = signal->ssi_pid != 0 ? NextWithin(kSameRequest) : std::nullopt;
      OnInterrupt();
      if (second && second->ssi_pid != signal->ssi_pid) OnInterrupt();
    }
  }
}

std::optional<signalfd_siginfo> InterruptedRun::NextWithin(std::chrono::milliseconds time) const {
  pollfd fd{signals_.get(), POLLIN, 0};
  ::poll(&fd, 1, static_cast<int>(time.count()));
  return process::ReadSignal(signals_.get());
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
  // A job that waits for others is not to start by itself later.
  const text::Json patch = text::Object{
      {"metadata", text::Object{{"annotations", text::Object{{api::kWaitForAnnotation, nullptr}}}}},
      {"spec", text::Object{{"runPolicy", text::Object{{"suspend", true}}}}}};
  const auto stopped = client_.Patch(api::kPyTorchJobs, std::string(api::Namespace(job_)), name,
                                     cluster::PatchType::kMerge, patch);
  if (!stopped && stopped.error().code != base::Code::kNotFound) {
    TakeAwayLiveLines();
    base::LogError("{} could not be stopped, and runs on: {}", name, stopped.error().message);
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
  if (has_finished) return;  // it was quicker: who follows it tells how it ended
  // What the replicas said at their end is on its way.
  std::this_thread::sleep_for(LogMerge::kWindow);
  TakeAwayLiveLines();
  if (has_ended) {
    base::LogInfo("{0} is stopped: `{1} resume {0}` begins it again, `{1} delete {0}` removes it",
                  name, context_.program);
  } else {
    base::LogWarn("{} is still stopping: `{} get {}` shows it", name, context_.program, name);
  }
  ::_exit(cli::kExitInterrupted);
}

}  // namespace arena
