// BusyPoll: how long a loop looks for events before it sleeps. A wake-up costs tens of
// microseconds, which is most of a small request's time; looking costs a processor's. So it looks
// only while what it waits for comes soon, and no longer than that is likely to take.
#pragma once

#include <algorithm>
#include <chrono>

namespace process {

class BusyPoll {
 public:
  using Duration = std::chrono::steady_clock::duration;
  static constexpr Duration kLongest = std::chrono::microseconds(200);
  static constexpr Duration kShortest = std::chrono::microseconds(25);

  // Zero until waits have been short.
  Duration budget() const { return budget_; }

  // `wait`: from the moment that there was nothing to do until there was, looking included.
  void Ended(Duration wait) {
    if (wait <= kLongest) {
      budget_ = std::clamp(budget_ * 2, kShortest, kLongest);
    } else {
      budget_ = budget_ / 2 < kShortest ? Duration::zero() : budget_ / 2;
    }
  }

 private:
  Duration budget_{};
};

}  // namespace process
