// Steps' numbers sorted into the stretches in which they went up, and how long a step takes. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "runs/ledger/phases.h"

namespace runs {

// From one start of the steps to the next one.
struct Stretch {
  Period period;                // in which it lies
  std::vector<StepMark> marks;  // ascending in time and number; empty where none is known
  bool is_restart = false;      // of its programs, within one life of the pods (torchrun's)
};

struct Stretches {
  std::vector<Stretch> all;
  double usual = 0;         // milliseconds of a step: the median; 0 is not known
  int64_t stride = 1;       // numbers between two marks: the median of all, or of the first two of
                            // each stretch, whichever is less
  bool can_compare = true;  // whether a number that comes again means that its step was made again
};

// Marks that lie in no period are left out.
Stretches StretchesOf(const Life& life, const std::vector<Period>& periods);

// By epoch, then by number.
bool IsBefore(const StepMark& a, const StepMark& b);

}  // namespace runs
