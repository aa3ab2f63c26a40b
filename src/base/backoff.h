// Exponential back-off with a cap; deterministic.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace base {

class Backoff {
 public:
  Backoff(Duration first, Duration cap) : first_(first), cap_(cap) {}

  // The delay before the next attempt; doubles with each call up to the cap.
  Duration Next() {
    const Duration wait = next_ == Duration::zero() ? first_ : next_;
    next_ = std::min(cap_, wait * 2);
    return wait;
  }
  void Reset() { next_ = Duration::zero(); }

 private:
  Duration first_;
  Duration cap_;
  Duration next_{};
};

}  // namespace base
