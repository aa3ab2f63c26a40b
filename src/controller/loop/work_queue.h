// A queue of keys with client-go's rules: a key that is added while it is being worked on comes
// again afterwards, and a key that is added twice comes once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

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
  // Adds the key after its own back-off, which doubles with each call until Forget.
  void AddWithBackoff(const std::string& key);
  void Forget(const std::string& key);
  // For a key that no longer exists: removes its delayed wake-up, too.
  void Drop(const std::string& key);

  // Blocks; nullopt after Stop(). The key belongs to the caller until Done(key). `waited`: the time
  // since it was first added.
  std::optional<std::string> Get(base::Duration* waited = nullptr);
  // The same without blocking; nullopt also when no key is due.
  std::optional<std::string> TryGet(base::Duration* waited = nullptr);
  // `rest`: if the key was added again meanwhile, the least time before it comes.
  void Done(const std::string& key, base::Duration rest = {});
  void Stop();
  bool is_stopped() const;

  size_t Depth() const;
  // What client-go's queues measure about themselves.
  struct View {
    size_t waiting = 0, at_work = 0;
    int64_t added = 0, retried = 0;          // since construction
    base::Duration unfinished{}, longest{};  // of the keys being worked on: the sum and the longest
  };
  View Look() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void AddLocked(const std::string& key);
  void DelayLocked(const std::string& key, Instant at);
  void MoveDueLocked();
  std::optional<std::string> TakeLocked(base::Duration* waited);

  base::Clock& clock_;
  const base::Duration first_backoff_;
  const base::Duration max_backoff_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::deque<std::string> ready_;
  std::unordered_map<std::string, Instant> dirty_;       // key -> since when
  std::unordered_map<std::string, Instant> processing_;  // key -> since when
  int64_t added_ = 0, retried_ = 0;
  // At most one wake-up for each key, the earliest requested; and the same sorted by time.
  std::unordered_map<std::string, Instant> delayed_;
  std::set<std::pair<Instant, std::string>> by_time_;
  std::unordered_map<std::string, base::Backoff> backoffs_;
};

}  // namespace controller
