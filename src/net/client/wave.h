// A wait for many answers.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace net {

// Requests that somebody waits for together: he is woken once, when the last of them has ended.
class Wave {
 public:
  explicit Wave(size_t requests) : left_(requests) {}
  void CountEnd() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) ended_.notify_all();
  }
  void Await() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t left_;
};

}  // namespace net
