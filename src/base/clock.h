// Time is passed as an argument: nothing outside `base` asks the system for it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// Wall time, microseconds since the epoch, UTC.
using Time = std::chrono::sys_time<std::chrono::microseconds>;
using Duration = std::chrono::microseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() = 0;
  // Monotonic; for timeouts and back-off.
  virtual std::chrono::steady_clock::time_point Steady() = 0;
};

// The system's clock. Never destroyed.
Clock& SystemClock();

// A clock that moves only when it is told to. Not thread safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(Time now) : now_(now) {}
  Time Now() override { return now_; }
  std::chrono::steady_clock::time_point Steady() override { return steady_; }
  void Advance(Duration by) {
    now_ += by;
    steady_ += by;
  }

 private:
  Time now_;
  std::chrono::steady_clock::time_point steady_{};
};

// RFC 3339, seconds, UTC: "2026-07-30T10:00:00Z" (metav1.Time).
std::string FormatRfc3339(Time time);
// RFC 3339 with six decimals: "2026-07-30T10:00:00.000000Z" (metav1.MicroTime).
std::string FormatRfc3339Micro(Time time);
// Any RFC 3339 time with optional fraction and offset. kInvalidArgument otherwise.
Result<Time> ParseRfc3339(std::string_view text);

// One unit, rounded down, as kubectl and Arena print ages: 59s, 1m, 1h, 1d, 1y; "<invalid>" below
// -1 s.
std::string ShortDuration(Duration duration);

// Go's time.ParseDuration: "1h30m", "300ms", "1.5h", "0". kInvalidArgument otherwise.
Result<std::chrono::nanoseconds> ParseGoDuration(std::string_view text);

}  // namespace base
