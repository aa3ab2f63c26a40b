// The periods in which all programs of a job ran, and the gaps between them. Pure.
#pragma once

#include <vector>

#include "runs/ledger/life.h"

namespace runs {

// The time from the moment a replica was missing until all ran again, or to the job's end.
struct Gap {
  Millis begin = 0;
  Millis end = 0;
  bool is_open = false;   // it lasts to the end
  bool has_begin = true;  // if false, it began at an unknown time before `begin`
  bool is_suspension = false;
};

// A time in which all programs of the job run.
struct Period {
  Millis begin = 0;
  Millis end = 0;
  bool was_cut_off = false;  // by a failure, a suspension or a deletion
  bool goes_on = false;      // it has not ended
  bool has_end = true;       // if false, it ended at an unknown time before `end`
};

struct Phases {
  std::vector<Claim> claims;
  std::vector<Gap> gaps;
  std::vector<Period> periods;
};

// Within [life.submitted, end].
Phases PhasesOf(const Life& life, Millis end);

}  // namespace runs
