// Of the time that made no step, where the most of it went and what would have saved it. Pure.
#pragma once

#include <optional>
#include <string>

#include "runs/ledger/ledger.h"

namespace runs {

struct Saving {
  Bucket bucket = Bucket::kUnknown;
  Millis millis = 0;
  int64_t gpu_millis = 0;
  std::string text;  // one sentence
};

// By GPU time where any was held, else by the wall clock. Nullopt when steps are nearly all of it:
// when the greatest is less than a fiftieth.
std::optional<Saving> GreatestSaving(const Ledger& ledger);

}  // namespace runs
