// Following one instance's log until the instance ends (logs -f).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "arena/app/app.h"
#include "cluster/client.h"

namespace arena {

// Ends a Follow from another thread.
class FollowStop {
 public:
  // The Follow that has this prints what there is by now, and returns.
  void Stop();

  // For Follow: while it waits, `wake` is what wakes it. At once when stopped already.
  void SetWake(std::function<void()> wake);
  bool IsStopped() const { return is_stopped_; }

 private:
  std::atomic<bool> is_stopped_{false};  // asked under other locks
  std::mutex mutex_;                     // guards wake_
  std::function<void()> wake_;
};

struct FollowRequest {
  std::string namespace_name;
  std::string job;
  std::string pod_selector;
  std::string instance;                // pod name
  std::string container;               // "" is the training container
  cluster::LogOptions options;         // tail, since, timestamps
  std::shared_ptr<FollowStop> stop{};  // nullptr: nobody will stop it
  // Told of the line that has no end yet, as it grows: a progress bar. On Follow's thread.
  std::function<void(std::string_view)> on_open_line{};
};

// Waits for the instance to start, streams its log to `out` line by line through restarts of the
// container and of the server, and returns when the instance has ended or is gone. An instance
// whose training never started because its code could not be fetched: that log instead.
// kUnavailable when the server stays away for half a minute.
base::Status Follow(cluster::Client& client, const Context& context, const FollowRequest& request,
                    cli::Output& out);

}  // namespace arena
