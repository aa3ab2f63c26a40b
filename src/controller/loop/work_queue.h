// A queue of keys: what is added while it is being worked on comes again afterwards, what is added
// twice comes once (client-go's rules).
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
  // After the key's own back-off, which doubles with each call until Forget.
  void AddWithBackoff(const std::string& key);
  void Forget(const std::string& key);
  // Of a key that is gone: a delayed wake-up too.
  void Drop(const std::string& key);

  // Blocks; nothing after Stop(). The key is the caller's until Done(key). `waited`: since it was
  // first asked for.
  std::optional<std::string> Get(base::Duration* waited = nullptr);
  // The same without blocking: nothing, too, when no key is due.
  std::optional<std::string> TryGet(base::Duration* waited = nullptr);
  // `rest`: if it was asked for again meanwhile, it comes after so long at the earliest.
  void Done(const std::string& key, base::Duration rest = {});
  void Stop();
  bool is_stopped() const;

  size_t Depth() const;
  // What client-go's queues measure of themselves.
  struct View {
    size_t waiting = 0, at_work = 0;
    int64_t added = 0, retried = 0;          // since the queue was made
    base::Duration unfinished{}, longest{};  // of the work under way: its sum, its longest
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
  std::unordered_map<std::string, Instant> dirty_;       // since when
  std::unordered_map<std::string, Instant> processing_;  // since when
  int64_t added_ = 0, retried_ = 0;
  // One wake-up per key, the earliest asked for; and the same by time.
  std::unordered_map<std::string, Instant> delayed_;
  std::set<std::pair<Instant, std::string>> by_time_;
  std::unordered_map<std::string, base::Backoff> backoffs_;
};

}  // namespace controller
