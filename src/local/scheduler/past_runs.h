// Past runs: the durations to expect of similar runs, and how accurate the forecasts of their own
// starts would have been. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "local/scheduler/forecast.h"
#include "local/scheduler/scheduler.h"

namespace local::scheduler {

struct PastRun {
  Gang gang;            // as it was when it began to wait: its pods are not bound
  std::string command;  // runs are similar when their commands are
  base::Time started{};
  base::Time ended{};
};

// How much of a command two runs share.
enum class Likeness {
  kCommand,  // all of it
  kProgram,  // all before the first flag or assignment: "python train.py"
  kAny,      // that they ran on this machine
  kNone,     // there are no past runs
};

struct Expected {
  Likeness likeness = Likeness::kNone;
  std::vector<base::Duration> durations;
};

// The durations of the newest 50 of the most similar runs. `past`: in the order of their ends.
Expected ExpectedOf(const std::string& command, const std::vector<PastRun>& past);

struct Accuracy {
  int runs = 0;                    // runs that waited and whose start was predicted
  base::Duration median{}, p90{};  // the error of the start, in either direction
  int by_late = 0;                 // how many had started by Forecast::late
};

// Measures the forecasts that would have been made for the last runs that waited for GPUs for at
// least two seconds, at most `most`, from what was known when they began to wait. `past`: in the
// order of their ends.
Accuracy MeasureForecasts(const Node& node, const std::vector<PastRun>& past, GpuPolicy policy,
                          size_t most);

// The forecast that `run`, one of `past`, would have had when it began to wait; for
// MeasureForecasts and the bench.
Forecast ForecastFor(const Node& node, const std::vector<PastRun>& past, GpuPolicy policy,
                     const PastRun& run);

}  // namespace local::scheduler
