#include "controller/work_queue.h"

#include <algorithm>

namespace controller {

void WorkQueue::Add(const std::string& key) {
  const std::lock_guard lock(mutex_);
  AddLocked(key);
}

void WorkQueue::AddLocked(const std::string& key) {
  if (is_stopped_ || !dirty_.insert(key).second) return;
  if (processing_.contains(key)) return;
  ready_.push_back(key);
  wake_.notify_one();
}

void WorkQueue::AddAfter(const std::string& key, base::Duration wait) {
  const std::lock_guard lock(mutex_);
  if (wait <= base::Duration::zero()) {
    AddLocked(key);
    return;
  }
  const Instant at = clock_.Steady() + wait;
  const auto [entry, is_new] = delayed_.emplace(key, at);
  if (!is_new) entry->second = std::min(entry->second, at);
  wake_.notify_one();
}

void WorkQueue::AddWithBackoff(const std::string& key) {
  base::Duration wait;
  {
    const std::lock_guard lock(mutex_);
    wait = backoffs_.try_emplace(key, first_backoff_, max_backoff_).first->second.Next();
  }
  AddAfter(key, wait);
}

void WorkQueue::Forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  backoffs_.erase(key);
}

void WorkQueue::MoveDueLocked() {
  const Instant now = clock_.Steady();
  for (auto entry = delayed_.begin(); entry != delayed_.end();) {
    if (entry->second <= now) {
      AddLocked(entry->first);
      entry = delayed_.erase(entry);
    } else {
      ++entry;
    }
  }
}

std::optional<std::string> WorkQueue::Get() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (is_stopped_) return std::nullopt;
    MoveDueLocked();
    if (!ready_.empty()) {
      std::string key = std::move(ready_.front());
      ready_.pop_front();
      dirty_.erase(key);
      processing_.insert(key);
      return key;
    }
    if (delayed_.empty()) {
      wake_.wait(lock);
    } else {
      const auto next =
          std::min_element(delayed_.begin(), delayed_.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      // wait_for against the argument clock, so that a fake one decides what is due.
      wake_.wait_for(lock, next->second - clock_.Steady());
    }
  }
}

void WorkQueue::Done(const std::string& key) {
  const std::lock_guard lock(mutex_);
  processing_.erase(key);
  if (dirty_.contains(key)) {
    ready_.push_back(key);
    wake_.notify_one();
  }
}

void WorkQueue::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  wake_.notify_all();
}

size_t WorkQueue::Depth() const {
  const std::lock_guard lock(mutex_);
  return ready_.size();
}

}  // namespace controller
