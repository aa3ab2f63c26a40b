// When a job's programs ran all at once, and what was in between. Pure.
#pragma once

#include <vector>

#include "runs/ledger/life.h"

namespace runs {

// From when a replica was missing until all ran again, or to the job's end.
struct Gap {
  Millis begin = 0;
  Millis end = 0;
  bool is_open = false;   // to the end
  bool has_begin = true;  // else it began some time before: nothing tells when
  bool is_suspension = false;
};

// All programs run.
struct Period {
  Millis begin = 0;
  Millis end = 0;
  bool was_cut_off = false;  // by a failure, a suspension or a deletion
  bool goes_on = false;      // now
  bool has_end = true;       // else it ended some time before
};

struct Phases {
  std::vector<Claim> claims;
  std::vector<Gap> gaps;
  std::vector<Period> periods;
};

// Within [life.submitted, end].
Phases PhasesOf(const Life& life, Millis end);

}  // namespace runs
