// Ending: how `delete` and `suspend` wait for a job's instances to end, or do not.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "arena/app/app.h"
#include "arena/jobs/job_watch.h"
#include "base/fd.h"
#include "cluster/client.h"

namespace arena {

// While it lives, Ctrl-C does not end the program: the first is answered with what a second one
// does, that one leaves the instances to the cluster, which ends them all the same, and a third
// ends the program. Made and used by the main thread; one at a time.
class Ending {
 public:
  // Says nothing when `is_quiet`.
  Ending(const Context& context, bool is_quiet);
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  // Blocks until `left`, which counts the instances of `job` that have not ended, says 0, the user
  // leaves, or kPatience is over, which is warned of. What takes more than a moment is told. `left`
  // runs under the watch's lock.
  void Await(JobWatch& watch, const std::string& job,
             const std::function<size_t(const JobWatch::Snapshot&)>& left);

  // Whether the user has left. Nothing is waited for any more.
  bool IsLeft() const { return is_left_; }
  // The command's exit code then.
  int exit_code() const;

  // How long pods may take to end: Kubernetes' grace of 30 s, and room.
  static constexpr std::chrono::seconds kPatience{90};

 private:
  void TakeSignals();
  void OnInterrupt();
  void SetWake(std::function<void()> wake);
  void Say(size_t count, const std::string& job) const;

  const Context& context_;
  const bool is_quiet_;
  std::atomic<bool> is_left_{false};
  int interrupts_ = 0;  // of the thread
  std::mutex mutex_;    // guards wake_
  std::function<void()> wake_;
  base::Fd signals_;
  base::Fd stop_;
  std::thread thread_;
};

// --force and --wait.
void AddEndingFlags(cli::FlagSet& flags, bool& force, bool& wait);

// Deletes the job's pods, and its TensorBoard's, without the time to end that they would have.
// `uid` is the job's.
base::Status EndAtOnce(cluster::Client& client, const std::string& namespace_name,
                       const std::string& pod_selector, std::string_view uid);

// Whether the pod is of the job's TensorBoard: that is its Deployment's.
bool IsTensorboardPod(const text::Json& pod);

}  // namespace arena
