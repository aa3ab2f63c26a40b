#include "local/store/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace local::store {

class History::Watcher {
 public:
  Watcher(std::string resource, std::string namespace_name, int64_t from, WatchCallback callback)
      : resource_(std::move(resource)),
        namespace_(std::move(namespace_name)),
        seen_(from),
        callback_(std::move(callback)) {}

  std::unique_lock<std::mutex> Lock() { return std::unique_lock(mutex_); }
  void Cancel() { is_cancelled_ = true; }

  // The caller holds the lock.
  void Deliver(std::span<const EventPtr> events, int64_t version) {
    if (is_cancelled_ || version < seen_) return;
    std::vector<EventPtr> mine;
    for (const EventPtr& event : events) {
      if (event->version > seen_ && Matches(event->key)) mine.push_back(event);
    }
    seen_ = version;
    callback_(mine, version);
  }

 private:
  bool Matches(const Key& key) const {
    return (resource_.empty() || key.resource == resource_) &&
           (namespace_.empty() || key.namespace_name == namespace_);
  }

  const std::string resource_;
  const std::string namespace_;
  std::atomic<bool> is_cancelled_ = false;
  std::mutex mutex_;  // guards the members below
  int64_t seen_;
  WatchCallback callback_;
};

class History::Handle : public Subscription {
 public:
  Handle(std::shared_ptr<State> state, std::shared_ptr<Watcher> watcher)
      : state_(std::move(state)), watcher_(std::move(watcher)) {}
  ~Handle() override {
    watcher_->Cancel();
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->watchers, watcher_);
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Watcher> watcher_;
};

History::History(int64_t version) : state_(std::make_shared<State>()) {
  state_->oldest = version;
  state_->newest = version;
}

void History::Publish(std::vector<EventPtr> events, int64_t version) {
  std::vector<std::shared_ptr<Watcher>> watchers;
  {
    const std::lock_guard lock(state_->mutex);
    for (const EventPtr& event : events) {
      state_->bytes += event->Bytes();
      state_->events.push_back(event);
    }
    while (state_->events.size() > kMaxHistoryEvents ||
           (state_->bytes > kMaxHistoryBytes && !state_->events.empty())) {
      state_->bytes -= state_->events.front()->Bytes();
      state_->oldest = state_->events.front()->version;
      state_->events.pop_front();
    }
    state_->newest = version;
    watchers = state_->watchers;
  }
  for (const auto& watcher : watchers) {
    const auto lock = watcher->Lock();
    watcher->Deliver(events, version);
  }
}

base::Result<std::unique_ptr<Subscription>> History::Watch(std::string resource,
                                                           std::string namespace_name,
                                                           int64_t from_version,
                                                           WatchCallback callback) {
  auto watcher = std::make_shared<Watcher>(std::move(resource), std::move(namespace_name),
                                           from_version, std::move(callback));
  std::vector<EventPtr> replay;
  // Locked before Publish can see the watcher, so that the replay comes first.
  const auto watcher_lock = watcher->Lock();
  int64_t newest = 0;
  {
    const std::lock_guard lock(state_->mutex);
    if (from_version < state_->oldest) {
      return base::Fail(base::Code::kExpired, fmt::format("too old resource version: {} ({})",
                                                          from_version, state_->oldest));
    }
    const auto first =
        std::find_if(state_->events.begin(), state_->events.end(),
                     [&](const EventPtr& event) { return event->version > from_version; });
    replay.assign(first, state_->events.end());
    newest = state_->newest;
    state_->watchers.push_back(watcher);
  }
  if (newest > from_version) watcher->Deliver(replay, newest);
  return std::make_unique<Handle>(state_, watcher);
}

}  // namespace local::store
