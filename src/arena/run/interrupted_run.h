// Ctrl-C while a run is followed: it stops the job.
#pragma once

#include <sys/signalfd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "arena/app/app.h"
#include "base/fd.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// While it exists, the first Ctrl-C (or SIGTERM) suspends the job: its replicas get SIGTERM and
// their grace period, and this program exits with 130 when they have ended. A second one kills
// them; a third exits at once and leaves them to the cluster. SIGHUP ends only this program.
// Borrows `client` and `context`.
class InterruptedRun {
 public:
  InterruptedRun(cluster::Client& client, const Context& context, const text::Json& job,
                 int64_t grace_seconds);
  ~InterruptedRun();
  InterruptedRun(const InterruptedRun&) = delete;
  InterruptedRun& operator=(const InterruptedRun&) = delete;

  // Whether it ends the job; for those who follow it.
  const std::atomic<bool>& is_ending() const { return is_ending_; }

 private:
  void TakeSignals();
  std::optional<signalfd_siginfo> NextWithin(std::chrono::milliseconds time) const;
  void OnInterrupt();
  void Suspend();
  void Kill();
  void AwaitEnd();

  cluster::Client& client_;
  const Context& context_;
  const text::Json job_;
  const int64_t grace_seconds_;
  int interrupts_ = 0;  // of thread_
  std::atomic<bool> is_ending_{false};
  base::Fd signals_;
  base::Fd stop_;
  std::thread thread_;
  std::thread waiting_;
};

}  // namespace arena
