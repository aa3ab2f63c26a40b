// Claims of time that follow from the numbers of steps. Pure.
#pragma once

#include <string>
#include <vector>

#include "runs/ledger/stretches.h"

namespace runs {

// Productive, lost and first steps, and the time before and after them. The formulas are those of
// Google's ml-goodput-measurement, with buckets that do not overlap: a step takes the time between
// its number and the previous one; a step that a later stretch repeats was lost.
std::vector<Claim> ClaimsOfSteps(const Life& life, const Stretches& stretches);

}  // namespace runs
