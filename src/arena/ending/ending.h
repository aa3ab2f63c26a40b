// Ending: waits for a job's instances to end, for `delete` and `suspend`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "arena/app/app.h"
#include "arena/jobs/job_watch.h"
#include "cluster/client.h"
#include "process/signals.h"

namespace arena {

// While it exists, Ctrl-C does not end the program. The first one prints what a second one does;
// the second stops waiting, and the cluster ends the instances anyway; a third ends the program.
// For the main thread; one at a time.
class Ending {
 public:
  // Prints nothing if `is_quiet`.
  Ending(const Context& context, bool is_quiet);
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  // Blocks until `left`, the number of instances of `job` that have not ended, is 0, the user stops
  // waiting, kPatience is over, or the server refuses to say; the last two are warnings. Says so if
  // it takes more than a moment. `left` runs under the watch's lock.
  void Await(JobWatch& watch, const std::string& job,
             const std::function<size_t(const JobWatch::Snapshot&)>& left);

  // Whether Await was called.
  bool HasAwaited() const { return has_awaited_; }
  // Whether the user has stopped waiting.
  bool IsLeft() const { return is_left_; }
  // The command's exit code in that case.
  int exit_code() const;

  // How long pods may take to end: Kubernetes' grace period of 30 s, and some more.
  static constexpr std::chrono::seconds kPatience{90};

 private:
  void OnInterrupt();
  void SetWake(std::function<void()> wake);
  void Say(size_t count, const std::string& job) const;

  const Context& context_;
  const bool is_quiet_;
  std::atomic<bool> is_left_{false};
  bool has_awaited_ = false;
  int interrupts_ = 0;  // used by signals_' thread only
  std::mutex mutex_;    // guards wake_
  std::function<void()> wake_;
  process::SignalThread signals_;
};

// --force and --wait.
void AddEndingFlags(cli::FlagSet& flags, bool& force, bool& wait);

// Deletes the pods of the job and its TensorBoard without a grace period. `uid` is the job's.
base::Status EndAtOnce(cluster::Client& client, const std::string& namespace_name,
                       const std::string& pod_selector, std::string_view uid);

// Whether the pod belongs to the job's TensorBoard, by its Deployment.
bool IsTensorboardPod(const text::Json& pod);

}  // namespace arena
