// What steps' numbers say of where the time went. Pure.
#pragma once

#include <string>
#include <vector>

#include "runs/ledger/stretches.h"

namespace runs {

// Productive steps, lost ones, the first one, what came before and after them. Formulas as in
// Google's ml-goodput-measurement, with buckets that may not overlap: a step's time is that between
// its number and the one before; what a later stretch makes again was lost.
std::vector<Claim> ClaimsOfSteps(const Life& life, const Stretches& stretches);

}  // namespace runs
