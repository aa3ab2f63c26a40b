#include "controller/loop/work_queue.h"

#include <algorithm>

namespace controller {

void WorkQueue::Add(const std::string& key) {
  const std::lock_guard lock(mutex_);
  AddLocked(key);
}

void WorkQueue::AddLocked(const std::string& key) {
  if (is_stopped_ || !dirty_.try_emplace(key, clock_.Steady()).second) return;
  ++added_;
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
  DelayLocked(key, clock_.Steady() + wait);
}

void WorkQueue::DelayLocked(const std::string& key, Instant at) {
  const auto [entry, is_new] = delayed_.emplace(key, at);
  if (!is_new) {
    if (entry->second <= at) return;
    by_time_.erase({entry->second, key});
    entry->second = at;
  }
  by_time_.emplace(at, key);
  if (by_time_.begin()->second == key) wake_.notify_one();
}

void WorkQueue::AddWithBackoff(const std::string& key) {
  base::Duration wait;
  {
    const std::lock_guard lock(mutex_);
    wait = backoffs_.try_emplace(key, first_backoff_, max_backoff_).first->second.Next();
    ++retried_;
  }
  AddAfter(key, wait);
}

void WorkQueue::Forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  backoffs_.erase(key);
}

void WorkQueue::Drop(const std::string& key) {
  const std::lock_guard lock(mutex_);
  backoffs_.erase(key);
  const auto found = delayed_.find(key);
  if (found == delayed_.end()) return;
  by_time_.erase({found->second, key});
  delayed_.erase(found);
}

void WorkQueue::MoveDueLocked() {
  if (by_time_.empty()) return;
  const Instant now = clock_.Steady();
  while (!by_time_.empty() && by_time_.begin()->first <= now) {
    const std::string key = by_time_.begin()->second;
    by_time_.erase(by_time_.begin());
    delayed_.erase(key);
    AddLocked(key);
  }
}

std::optional<std::string> WorkQueue::TakeLocked(base::Duration* waited) {
  MoveDueLocked();
  if (ready_.empty()) return std::nullopt;
  std::string key = std::move(ready_.front());
  ready_.pop_front();
  const auto since = dirty_.find(key);
  const Instant now = clock_.Steady();
  if (waited != nullptr) {
    *waited = std::chrono::duration_cast<base::Duration>(now - since->second);
  }
  dirty_.erase(since);
  processing_.emplace(key, now);
  return key;
}

std::optional<std::string> WorkQueue::TryGet(base::Duration* waited) {
  const std::lock_guard lock(mutex_);
  return is_stopped_ ? std::nullopt : TakeLocked(waited);
}

std::optional<std::string> WorkQueue::Get(base::Duration* waited) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (is_stopped_) return std::nullopt;
    if (auto key = TakeLocked(waited)) return key;
    if (by_time_.empty()) {
      wake_.wait(lock);
    } else {
      // wait_for instead of wait_until, so that a fake clock decides what is due.
      wake_.wait_for(lock, by_time_.begin()->first - clock_.Steady());
    }
  }
}

void WorkQueue::Done(const std::string& key, base::Duration rest) {
  const std::lock_guard lock(mutex_);
  processing_.erase(key);
  if (!dirty_.contains(key)) return;
  if (rest > base::Duration::zero()) {
    dirty_.erase(key);
    DelayLocked(key, clock_.Steady() + rest);
    return;
  }
  ready_.push_back(key);
  wake_.notify_one();
}

void WorkQueue::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  wake_.notify_all();
}

bool WorkQueue::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return is_stopped_;
}

size_t WorkQueue::Depth() const {
  const std::lock_guard lock(mutex_);
  return ready_.size();
}

WorkQueue::View WorkQueue::Look() const {
  const std::lock_guard lock(mutex_);
  View view{ready_.size(), processing_.size(), added_, retried_, {}, {}};
  const Instant now = clock_.Steady();
  for (const auto& [key, since] : processing_) {
    const auto worked = std::chrono::duration_cast<base::Duration>(now - since);
    view.unfinished += worked;
    view.longest = std::max(view.longest, worked);
  }
  return view;
}

}  // namespace controller
