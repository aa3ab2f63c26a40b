// The part of Agent that gives up workers in uninterruptible sleep: what holds them (a GPU's
// driver, a network file system) would hold their successors on this machine, too.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/machine/signal_name.h"
#include "launch/agent/agent.h"
#include "launch/machine/process_tree.h"
#include "process/procfs.h"

namespace launch {
namespace {

char StateOf(pid_t pid) {
  const auto stat = process::ReadStat(pid);
  return stat ? stat->state : '?';
}

}  // namespace

void Agent::WatchKernelSleep() {
  loop_->Cancel(std::exchange(sleep_timer_, 0));
  const auto limit =
      KernelSleepLimit(environment_.GetOr("TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT", ""));
  if (!limit) return;
  sleep_watch_.emplace(*limit, StateOf);
  LookForKernelSleepLater();
}

void Agent::LookForKernelSleepLater() {
  sleep_timer_ = loop_->After(sleep_watch_->Interval(), [this] {
    sleep_timer_ = 0;
    if (group_->IsStopping() || group_->running_count() == 0) return;
    if (const auto stuck = sleep_watch_->Look(group_->Pids(), clock_.Steady())) {
      GiveUpOn(*stuck);
    } else {
      LookForKernelSleepLater();
    }
  });
}

void Agent::GiveUpOn(const KernelSleepWatch::Stuck& stuck) {
  const std::string place = WaitChannel(stuck.pid);
  // It counts as ended by SIGKILL, by which it would end.
  Failure failure = FailureOf({stuck.local_rank, stuck.pid, -SIGKILL, clock_.Now(), false});
  failure.standstill =
      fmt::format("in uninterruptible sleep (state D{}{}) for {:.1f} s", place.empty() ? "" : ", ",
                  place, std::chrono::duration<double>(stuck.time).count());
  const std::string said = fmt::format("rank {} (pid {}) is {}: no restarts on this machine",
                                       failure.rank, failure.pid, failure.standstill);
  stuck_ = std::move(failure);
  const auto grace = GraceAfterFailure();
  // Other nodes may go on without this one.
  if (rendezvous_) {
    start_error_ = said;
    return StopGroup(Ending::kCannotStart, SIGTERM, grace);
  }
  SayLater(said);
  StopGroup(Ending::kFailure, SIGTERM, grace);
}

void Agent::AddStuckWorker() {
  if (!stuck_) return;
  for (Failure& failure : failures_) {
    if (failure.local_rank != stuck_->local_rank) continue;
    failure.standstill = stuck_->standstill;
    failure.time = stuck_->time;
    failure.was_stopped_by_us = false;
    failure.report.reset();
    return;
  }
  failures_.push_back(*stuck_);
}

// A user who waits for the end learns what delays it, long before the launcher gives up.
void Agent::SayWhoSleeps() {
  if (!group_ || !group_->IsStopping()) return;
  const auto pids = group_->Pids();
  for (const pid_t pid : group_->Unkillable()) {
    if (StateOf(pid) != 'D') continue;
    const auto worker = std::find(pids.begin(), pids.end(), pid);
    const std::string place = WaitChannel(pid);
    const std::string who =
        worker == pids.end() ? fmt::format("process {}", pid)
                             : fmt::format("rank {} (pid {})",
                                           MakeGroup().first_rank + (worker - pids.begin()), pid);
    SayLater(
        fmt::format("{} is in uninterruptible sleep (state D{}{}): it ends when the kernel lets it "
                    "go",
                    who, place.empty() ? "" : ", ", place));
  }
}

// The group could not be ended completely. Its output may be held open forever.
void Agent::OnGroupGivenUp() {
  std::string names;
  for (const pid_t pid : group_->Unkillable()) {
    const std::string place = WaitChannel(pid);
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", pid,
                         place.empty() ? "" : " (" + place + ")");
  }
  Say(fmt::format("not even SIGKILL ends these processes, which are left behind: {}", names));
  loop_->After(kLongestHurriedDrain, [this] { OnDrained(); });
}

// TORCHELASTIC_ENABLE_FILE_TIMER=1.
base::Status Agent::OpenFileTimer() {
  if (environment_.GetOr("TORCHELASTIC_ENABLE_FILE_TIMER", "") != "1") return {};
  constexpr const char* kPath = "TORCHELASTIC_TIMER_FILE";
  if (!environment_.Get(kPath)) environment_.Set(kPath, folder_->run_path() + "/watchdog_timer");
  // An older timer removes its pipe first.
  file_timer_.reset();
  auto opened = FileTimer::Open(
      *loop_, clock_, environment_.GetOr(kPath, ""),
      [this](pid_t pid, const std::string& scope, int signal) { OnLate(pid, scope, signal); });
  if (!opened) return base::Fail(opened.error().Wrap(kPath));
  file_timer_ = std::move(*opened);
  return {};
}

void Agent::OnLate(pid_t pid, const std::string& scope, int signal) {
  if (group_->IsStopping()) return;
  const auto pids = group_->Pids();
  const auto worker = std::find(pids.begin(), pids.end(), pid);
  const auto below = RunningDescendants();
  if (worker == pids.end() && std::find(below.begin(), below.end(), pid) == below.end()) return;
  const std::string who =
      worker == pids.end()
          ? fmt::format("process {}", pid)
          : fmt::format("rank {} (pid {})", MakeGroup().first_rank + (worker - pids.begin()), pid);
  SayLater(fmt::format("{} has not finished \"{}\" by the time that it set: it gets {}", who, scope,
                       base::SignalName(signal)));
  ::kill(pid, signal);
}

}  // namespace launch
