// The recent events, for watches that resume, and the watchers. Each watcher gets every event of
// its resource once and in order. Thread safe. Callbacks run on the publishing thread, or on the
// subscribing one for the replay; they must be quick and may cancel their own subscription, but
// must not subscribe.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "local/store/object.h"

namespace local::store {

inline constexpr size_t kMaxHistoryEvents = 4'096;
inline constexpr size_t kMaxHistoryBytes = 8 << 20;

// With `events` (those of the watched resource and namespace, possibly none), the watcher knows
// everything up to `version`.
using WatchCallback = std::function<void(std::span<const EventPtr> events, int64_t version)>;

// Ends the watch when destroyed. A callback that runs on another thread may still finish after
// that.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

class History {
 public:
  // `version`: nothing up to this version is remembered.
  explicit History(int64_t version);
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // `events` lead up to `version`. Called by one thread.
  void Publish(std::vector<EventPtr> events, int64_t version);

  // Delivers what happened after `from_version` at once, then new events. `resource` and
  // `namespace_name` may be "" for all. kExpired when some of that is no longer remembered.
  base::Result<std::unique_ptr<Subscription>> Watch(std::string resource,
                                                    std::string namespace_name,
                                                    int64_t from_version, WatchCallback callback);

 private:
  class Watcher;
  class Handle;
  // Shared with the subscriptions, which may outlive the history.
  struct State {
    std::mutex mutex;
    std::deque<EventPtr> events;
    size_t bytes = 0;
    int64_t oldest = 0;  // `events` holds all events after this version
    int64_t newest = 0;
    std::vector<std::shared_ptr<Watcher>> watchers;
  };

  std::shared_ptr<State> state_;
};

}  // namespace local::store
