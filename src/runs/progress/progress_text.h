// How far a training is, as one source tells it, and as it is shown. Pure, and without a JSON
// library, so that the launcher can use it.
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
  std::optional<int64_t> percent;  // told, or of steps and epochs
};

// Of a whole training: steps of an epoch count within it. Nullopt where nothing says how many there
// are.
std::optional<int64_t> PercentOf(const LineProgress& progress);

// "step 120/1000 (12%), 5 min left, loss 0.51": of what is known. "" when nothing is.
std::string DescribeProgress(const SourceProgress& progress);

}  // namespace runs
