// A queue of keys: what is added while it is being worked on comes again afterwards, what is added
// twice comes once (client-go's rules).
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"

namespace controller {

// Thread safe.
class WorkQueue {
 public:
  WorkQueue(base::Clock& clock, base::Duration first_backoff, base::Duration max_backoff)
      : clock_(clock), first_backoff_(first_backoff), max_backoff_(max_backoff) {}

  void Add(const std::string& key);
  void AddAfter(const std::string& key, base::Duration wait);
  // After the key's own back-off, which doubles with each call until Forget.
  void AddWithBackoff(const std::string& key);
  void Forget(const std::string& key);

  // Blocks; nothing after Stop(). The key is the caller's until Done(key).
  std::optional<std::string> Get();
  void Done(const std::string& key);
  void Stop();

  size_t Depth() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void AddLocked(const std::string& key);
  void MoveDueLocked();

  base::Clock& clock_;
  const base::Duration first_backoff_;
  const base::Duration max_backoff_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::deque<std::string> ready_;
  std::set<std::string> dirty_;
  std::set<std::string> processing_;
  // One wake-up per key: the earliest asked for.
  std::map<std::string, Instant> delayed_;
  std::map<std::string, base::Backoff> backoffs_;
};

}  // namespace controller
