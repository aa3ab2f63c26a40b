// Breaker: lets a user interrupt waits for the cloud.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/clock.h"

namespace ads::oci {

// Thread safe. When broken, running requests and pauses end, and later ones end at once, until it
// is repaired.
class Breaker {
 public:
  std::stop_token token() const {
    const std::lock_guard lock(mutex_);
    return source_.get_token();
  }
  bool is_broken() const { return token().stop_requested(); }
  void Break() {
    const std::lock_guard lock(mutex_);
    source_.request_stop();
  }
  void Mend() {
    const std::lock_guard lock(mutex_);
    source_ = std::stop_source();
  }
  // Blocks for that long, or until it is broken.
  void Pause(base::Duration duration) const {
    std::mutex own;
    std::unique_lock lock(own);
    std::condition_variable_any().wait_for(lock, token(), duration, [] { return false; });
  }

 private:
  mutable std::mutex mutex_;
  std::stop_source source_;
};

}  // namespace ads::oci
