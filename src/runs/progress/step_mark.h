#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace runs {

// Since the epoch, or of a stretch.
using Millis = int64_t;
// Floored.
inline Millis ToMillis(base::Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

// A time farther from the epoch cannot be that of a run.
inline constexpr Millis kLatest = int64_t{1} << 52;
// A number that is not below it is not a step.
inline constexpr int64_t kMostSteps = int64_t{1} << 53;

// A step's number, as one rank told it; of several epochs that count from the start, with theirs.
struct StepMark {
  Millis at = 0;
  int64_t step = 0;
  int64_t epoch = 0;
};

}  // namespace runs
