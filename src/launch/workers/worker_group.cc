#include "launch/workers/worker_group.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launch/machine/process_tree.h"
#include "process/pidfd.h"

namespace launch {
namespace {

// Helper processes end when they notice that nobody needs them any more.
constexpr base::Duration kPatience = std::chrono::milliseconds(500);
// Processes in the kernel (state D) do not react even to SIGKILL.
constexpr base::Duration kLongestUnkillable = std::chrono::seconds(30);

int ExitCodeOfStatus(int status) {
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

WorkerGroup::~WorkerGroup() {
  for (const Worker& worker : workers_) {
    if (worker.pidfd) loop_.Unwatch(worker.pidfd.get());
  }
  loop_.Cancel(kill_timer_);
  loop_.Cancel(give_up_timer_);
}

base::Status WorkerGroup::Start(process::SpawnOptions options) {
  if (warm_ != nullptr && warm_->is_alive()) {
    if (auto forked = warm_->Start(options)) {
      Worker worker;
      worker.pid = *forked;
      worker.is_forked = true;
      workers_.push_back(std::move(worker));
      ++running_;
      return {};
    } else {
      refusal_ = forked.error().message;
    }
  }
  options.group = process::SpawnOptions::Group::kSession;
  options.dies_with_parent = true;
  TRY_ASSIGN(const pid_t pid, process::Spawn(options));
  Worker worker;
  worker.pid = pid;
  auto pidfd = process::OpenPidfd(pid);
  const size_t local_rank = workers_.size();
  if (pidfd) worker.pidfd = std::move(*pidfd);
  workers_.push_back(std::move(worker));
  ++running_;
  if (!pidfd) return base::Fail(std::move(pidfd.error()));
  return loop_.Watch(workers_[local_rank].pidfd.get(), EPOLLIN,
                     [this, local_rank](uint32_t) { OnWorkerReady(local_rank); });
}

void WorkerGroup::OnWorkerReady(size_t local_rank) {
  Worker& worker = workers_[local_rank];
  int status = 0;
  const pid_t reaped = ::waitpid(worker.pid, &status, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR)) return;
  loop_.Unwatch(worker.pidfd.get());
  worker.pidfd.Reset();
  End(local_rank, ExitCodeOfStatus(status));
}

void WorkerGroup::End(size_t local_rank, int exit_code) {
  Worker& worker = workers_[local_rank];
  worker.has_ended = true;
  --running_;
  const bool was_ended_by_signal = exit_code == -stop_signal_ || exit_code == -SIGKILL;
  const WorkerEnd end{static_cast<int>(local_rank), worker.pid, exit_code, clock_.Now(),
                      worker.was_running_at_stop && (was_ended_by_signal || !worker.obeys_stop)};
  on_end_(end);
  FinishWhenEmpty();
}

void WorkerGroup::OnForkedEnd(pid_t pid, int exit_code) {
  for (size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (worker.is_forked && !worker.has_ended && worker.pid == pid) return End(i, exit_code);
  }
}

void WorkerGroup::OnKeeperLost() {
  // They requested it as their parent-death signal.
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].is_forked && !workers_[i].has_ended) End(i, -SIGKILL);
  }
}

std::vector<pid_t> WorkerGroup::RunningBelow(const std::vector<pid_t>& except) const {
  std::vector<pid_t> running = RunningDescendants(except);
  if (warm_ != nullptr && warm_->is_alive()) {
    const auto others = RunningDescendantsOf(warm_->keeper(), except);
    running.insert(running.end(), others.begin(), others.end());
  }
  return running;
}

std::vector<pid_t> WorkerGroup::Pids() const {
  std::vector<pid_t> pids;
  pids.reserve(workers_.size());
  for (const Worker& worker : workers_) pids.push_back(worker.has_ended ? 0 : worker.pid);
  return pids;
}

void WorkerGroup::Signal(int signal) {
  for (const Worker& worker : workers_) {
    if (!worker.has_ended) ::kill(-worker.pid, signal);
  }
}

void WorkerGroup::Stop(int signal, base::Duration grace, std::function<void()> done) {
  if (IsStopping()) return KillAll();
  done_ = std::move(done);
  stop_signal_ = signal;
  for (Worker& worker : workers_) {
    if (worker.has_ended) continue;
    if (signal == SIGTERM) asked_.insert(worker.pid);
    const EndedBySignal fate = WouldEnd(worker.pid, signal);
    worker.was_running_at_stop = fate != EndedBySignal::kHasEnded;
    worker.obeys_stop = fate == EndedBySignal::kYes;
  }
  Signal(signal);
  // Descendants of ended ranks: their groups have no other process left to ask about.
  const auto descendants = RunningBelow(Pids());
  leftovers_ = descendants.size();
  SignalAll(descendants, signal == SIGKILL ? SIGKILL : SIGTERM);
  asked_.insert(descendants.begin(), descendants.end());
  if (grace <= base::Duration::zero()) {
    KillAll();
  } else {
    kill_timer_ = loop_.After(grace, [this] { KillAll(); });
  }
  loop_.Post([this] { FinishWhenEmpty(); });
}

void WorkerGroup::Finish(base::Duration grace, std::function<void()> done) {
  done_ = std::move(done);
  stop_signal_ = SIGTERM;
  is_patient_ = true;
  kill_timer_ = loop_.After(kPatience, [this, grace] {
    is_patient_ = false;
    kill_timer_ = loop_.After(grace, [this] { KillAll(); });
    FinishWhenEmpty();
  });
  loop_.Post([this] { FinishWhenEmpty(); });
}

void WorkerGroup::KillAll() {
  SignalAll(RunningBelow({}), SIGKILL);
  if (std::exchange(is_killing_, true)) return;
  give_up_timer_ = loop_.After(kLongestUnkillable, [this] {
    has_given_up_ = true;
    if (done_) std::exchange(done_, nullptr)();
  });
}

void WorkerGroup::OnChildSignal() {
  ReapOrphans(Pids());
  FinishWhenEmpty();
}

void WorkerGroup::AskLeftovers(std::vector<pid_t> left) {
  leftovers_ = std::max(leftovers_, left.size());
  std::erase_if(
      left, [this](pid_t pid) { return asked_.contains(pid) || asked_.contains(::getpgid(pid)); });
  SignalAll(left, SIGTERM);
  asked_.insert(left.begin(), left.end());
}

void WorkerGroup::FinishWhenEmpty() {
  if (!done_ || running_ != 0) return;
  const auto left = RunningBelow({});
  if (!left.empty()) {
    // Their worker is gone, and they are in no group of ours.
    if (is_killing_) {
      SignalAll(left, SIGKILL);
    } else if (!is_patient_) {
      AskLeftovers(left);
    }
    return;
  }
  loop_.Cancel(kill_timer_);
  loop_.Cancel(give_up_timer_);
  std::exchange(done_, nullptr)();
}

}  // namespace launch
