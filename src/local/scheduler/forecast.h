// When what waits will start: the scheduler itself (scheduler.h), run ahead of time over what may
// be expected of the gangs before it. Pure, and the same each time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "local/scheduler/scheduler.h"

namespace local::scheduler {

// What is known of how long gangs run, by key: how long the runs took that are like it, in any
// order. Of a gang without any, or that has outlived them all, is expected what is expected of
// everything of which nothing else is known: that it lasts as long again as it has.
using Durations = std::map<std::string, std::vector<base::Duration>>;

// What ends before the gang starts.
struct Ending {
  std::string gang;
  base::Time at;  // expected
};

struct Forecast {
  enum class Kind {
    kNow,      // it fits
    kLater,    // it starts at `median`, or so
    kUnknown,  // it hangs on something of which nothing is known
    kNever,    // the machine has less than it asks for
  };
  Kind kind = Kind::kUnknown;
  // In one of two, and in nine of ten of the courses that things may take, it has started.
  base::Time median{};
  std::optional<base::Time> late;
  // In the median course, the first first.
  std::vector<Ending> endings;
};

// Of the gang `target` among `gangs`. What comes behind it in the queue does not matter to it and
// is left out; of more than 300 before it nothing is foretold.
Forecast Foresee(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy, base::Time now,
                 const Durations& durations, const std::string& target);

// How many courses are looked at.
inline constexpr int kCourses = 20;

// How long a gang that has run for `elapsed` goes on, in the course at `share` of all (between 0
// and 1: a half is the median); nullopt when nobody can tell.
std::optional<base::Duration> Remaining(const std::vector<base::Duration>& past,
                                        base::Duration elapsed, double share);

}  // namespace local::scheduler
