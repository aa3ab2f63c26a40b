// The progress of a training from one source, and its text. Pure, and without a JSON library, so
// that the launcher can use it.
#pragma once

#include <optional>
#include <string>

#include "runs/progress/line.h"
#include "runs/progress/step_mark.h"

namespace runs {

struct SourceProgress {
  std::string source;
  Millis at = 0;
  LineProgress progress;
  std::optional<int64_t> percent;  // reported, or computed from steps and epochs
};

// For the whole training: steps of an epoch count within it. Nullopt if the totals are unknown.
std::optional<int64_t> PercentOf(const LineProgress& progress);

// "step 120/1000 (12%), 5 min left, loss 0.51": the known parts. "" if nothing is known.
std::string DescribeProgress(const SourceProgress& progress);

}  // namespace runs
