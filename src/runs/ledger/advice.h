// Names the largest loss of time in a ledger, and how to avoid it. Pure.
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

// By GPU time if the job held GPUs, otherwise by wall-clock time. Nullopt when the largest loss is
// less than 2 % of the total.
std::optional<Saving> GreatestSaving(const Ledger& ledger);

}  // namespace runs
