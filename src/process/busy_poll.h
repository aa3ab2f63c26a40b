// BusyPoll: how long a loop polls for events before it sleeps. A wake-up costs tens of
// microseconds, most of the time of a small request, while polling costs a processor's time. So the
// loop polls only while events come soon, and no longer than they are likely to take.
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

  // `wait`: the time for which there was nothing to do, including the polling.
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
