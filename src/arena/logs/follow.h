// Follows one instance's log until the instance ends (logs -f).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "arena/app/app.h"
#include "arena/jobs/job_watch.h"
#include "cluster/client.h"

namespace arena {

// Ends a Follow from another thread.
class FollowStop {
 public:
  // The Follow with this FollowStop prints what has come so far, and returns.
  void Stop();

  // For Follow: `wake` ends its wait, at once if stopped already.
  void SetWake(std::function<void()> wake);
  bool IsStopped() const { return is_stopped_; }

 private:
  std::atomic<bool> is_stopped_{false};  // read under other locks
  std::mutex mutex_;                     // guards wake_
  std::function<void()> wake_;
};

struct FollowRequest {
  std::string namespace_name;
  std::string job;
  std::string pod_selector;
  std::string instance;                // pod name
  std::string container;               // "" for the training container
  cluster::LogOptions options;         // tail, since, timestamps
  std::shared_ptr<FollowStop> stop{};  // may be null
  // While true, waits are not reported: the caller ends the job. May be null; outlives the
  // Follow.
  const std::atomic<bool>* is_ending = nullptr;
  // Called with what the instance waits for, and with "" once it has started after that. Without
  // it, a log line reports the wait. On Follow's thread.
  std::function<void(const std::string&)> on_wait{};
  // Called with the unfinished line (a progress bar) as it grows. On Follow's thread.
  std::function<void(std::string_view)> on_open_line{};
  // The job's watch, if the caller has one; outlives the Follow. Null: it has its own.
  JobWatch* watch = nullptr;
  // Whether the caller, which follows several instances, checks for all of them that the server
  // answers.
  bool is_looked_for = false;
};

// Waits for the instance to start, and writes its log to `out` line by line, through restarts of
// the container and the server, until the instance has ended or is gone. If the training never
// started because its code could not be fetched, writes that log instead. kUnavailable if the
// server stays away for half a minute.
base::Status Follow(cluster::Client& client, const Context& context, const FollowRequest& request,
                    cli::Output& out);

}  // namespace arena
