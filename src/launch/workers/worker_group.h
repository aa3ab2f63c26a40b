// WorkerGroup: the processes of one start of the job on this node, as a whole.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "process/event_loop.h"
#include "process/spawn.h"
#include "warm/link.h"

namespace launch {

struct WorkerEnd {
  int local_rank = 0;
  pid_t pid = 0;
  int exit_code = 0;  // negative: minus the signal
  base::Time time;
  // Stop was called while it ran. False for one that was ending already.
  bool was_stopped_by_us = false;
};

// Every worker leads a session of its own. Used in the loop's thread only.
class WorkerGroup {
 public:
  using OnEnd = std::function<void(const WorkerEnd&)>;

  // `on_end` is called once for each worker, from the loop. `warm` forks the workers, if it is set
  // and as long as it can; otherwise they are executed.
  WorkerGroup(process::EventLoop& loop, base::Clock& clock, warm::Link* warm, OnEnd on_end)
      : loop_(loop), clock_(clock), warm_(warm), on_end_(std::move(on_end)) {}
  ~WorkerGroup();
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;

  // Starts the next local rank, in a session instead of the options' group.
  base::Status Start(process::SpawnOptions options);

  // Sends it to the process groups of the running workers.
  void Signal(int signal);

  // Sends `signal` to all descendants of this process, and SIGKILL after `grace`. Calls `done`,
  // from the loop, when none is left, or when the kernel does not end one. Called again: SIGKILL at
  // once.
  void Stop(int signal, base::Duration grace, std::function<void()> done);

  // All workers have ended: their remaining descendants may end by themselves for a moment, as the
  // helpers of Python's multiprocessing do, before they are stopped.
  void Finish(base::Duration grace, std::function<void()> done);

  bool IsStopping() const { return static_cast<bool>(done_); }
  // Stop is done, but a process is left that survived SIGKILL.
  bool has_given_up() const { return has_given_up_; }
  std::vector<pid_t> Unkillable() const { return RunningBelow({}); }
  size_t running_count() const { return running_; }
  // By local rank; 0 for ended workers.
  std::vector<pid_t> Pids() const;
  // Descendants that outlived their worker and were ended by Stop.
  size_t leftover_count() const { return leftovers_; }

  // Why workers were executed although there is a link; "" when none was.
  const std::string& refusal() const { return refusal_; }

  // The launcher's loop calls it at each SIGCHLD, and when an orphan of a forked worker has ended.
  void OnChildSignal();
  // From the link: a forked worker has ended; the keeper has ended.
  void OnForkedEnd(pid_t pid, int exit_code);
  void OnKeeperLost();

 private:
  struct Worker {
    pid_t pid = 0;
    base::Fd pidfd;          // of executed workers
    bool is_forked = false;  // the keeper's child, not ours
    bool has_ended = false;
    bool was_running_at_stop = false;
    bool obeys_stop = false;  // the signal of Stop ends it, and only that can
  };

  std::vector<pid_t> RunningBelow(const std::vector<pid_t>& except) const;
  void OnWorkerReady(size_t local_rank);
  void End(size_t local_rank, int exit_code);
  void KillAll();
  void FinishWhenEmpty();
  void AskLeftovers(std::vector<pid_t> left);

  process::EventLoop& loop_;
  base::Clock& clock_;
  warm::Link* warm_;
  std::string refusal_;
  OnEnd on_end_;
  std::vector<Worker> workers_;
  size_t running_ = 0;
  size_t leftovers_ = 0;
  std::function<void()> done_;
  process::EventLoop::TimerId kill_timer_ = 0;
  process::EventLoop::TimerId give_up_timer_ = 0;
  bool is_killing_ = false;
  bool has_given_up_ = false;
  bool is_patient_ = false;
  int stop_signal_ = 0;
  // Processes and process groups that were sent SIGTERM: a second one would interrupt what they do
  // at the first.
  std::set<pid_t> asked_;
};

}  // namespace launch
