// Predicts when a waiting gang will start, by running the scheduler itself (scheduler.h) over the
// expected ends of the gangs before it. Pure and deterministic.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "local/scheduler/scheduler.h"

namespace local::scheduler {

// Durations of past runs like each gang, by the gang's key, in any order. A gang that has none, or
// has outlived them all, is expected to run as long again as it has run.
using Durations = std::map<std::string, std::vector<base::Duration>>;

// A gang that has to end before the target starts.
struct Ending {
  std::string gang;
  base::Time at;  // expected
};

struct Forecast {
  enum class Kind {
    kNow,      // it fits, or starts already
    kLater,    // it starts at about `median`
    kUnknown,  // it depends on a gang, or a cordon, whose end cannot be predicted
    kNever,    // the machine has less than it asks for
    kExpires,  // its deadline, to which its wait counts, ends it first
  };
  Kind kind = Kind::kUnknown;
  // It has started by then in half (`median`) and in nine tenths (`late`) of the simulated courses.
  base::Time median{};
  std::optional<base::Time> late;
  // In the median course, in the order of their ends.
  std::vector<Ending> endings;
};

// Predicts the start of the gang `target` among `gangs`. Gangs behind it in the queue do not affect
// it and are ignored; with more than 300 before it, the answer is kUnknown.
Forecast Foresee(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy, base::Time now,
                 const Durations& durations, const std::string& target);

// The number of simulated courses.
inline constexpr int kCourses = 20;

// How much longer a gang that has run for `elapsed` is going to run: the quantile `share` (between
// 0 and 1; 0.5 is the median) over its past runs; nullopt when it cannot be predicted.
std::optional<base::Duration> Remaining(const std::vector<base::Duration>& past,
                                        base::Duration elapsed, double share);

}  // namespace local::scheduler
