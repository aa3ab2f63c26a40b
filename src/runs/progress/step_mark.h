#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace runs {

// Milliseconds: since the epoch, or a duration.
using Millis = int64_t;
// Floored.
inline Millis ToMillis(base::Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

// A time further from the epoch cannot be that of a run.
inline constexpr Millis kLatest = int64_t{1} << 52;
// A number that is not below this is not a step.
inline constexpr int64_t kMostSteps = int64_t{1} << 53;

// A step's number as one rank reported it; with its epoch, if steps are counted within epochs.
struct StepMark {
  Millis at = 0;
  int64_t step = 0;
  int64_t epoch = 0;
};

}  // namespace runs
