// Divides the marks of steps into stretches of rising numbers, and measures a step. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "runs/ledger/phases.h"

namespace runs {

// From one start of step numbers to the next.
struct Stretch {
  Period period;                // that contains it
  std::vector<StepMark> marks;  // ascending in time and number; may be empty
  bool is_restart = false;      // the launcher (torchrun) restarted the programs within their pods
};

struct Stretches {
  std::vector<Stretch> all;
  double usual = 0;    // the median duration of a step in milliseconds; 0 if unknown
  int64_t stride = 1;  // numbers between two marks: the lesser of the median over all marks and
                       // the median over the first two marks of each stretch
  bool can_compare = true;  // whether a repeated number means a repeated step
};

// Ignores marks outside of all periods.
Stretches StretchesOf(const Life& life, const std::vector<Period>& periods);

// By epoch, then by number.
bool IsBefore(const StepMark& a, const StepMark& b);

}  // namespace runs
