// A training's progress in the lines of one log. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runs/progress/checkpoint_line.h"
#include "runs/progress/line.h"
#include "runs/progress/source_line.h"
#include "runs/progress/step_mark.h"

namespace runs {

// From the lowest rank that reports progress, because the ranks of a pod may share its log.
class LogReading {
 public:
  struct Found {
    std::optional<LineProgress> progress;
    std::optional<CheckpointSpan> checkpoint;  // that ends with this line
  };
  // `rank`: the line's label, "rank3"; "" without one. `text`: the whole line without it; if it has
  // several states of a progress bar, separated by carriage returns, the last one counts.
  Found See(Millis at, std::string_view rank, std::string_view text);

 private:
  bool IsSource(std::string_view rank, std::string_view text);

  std::optional<std::string> rank_;
  std::map<std::string, SourceLines, std::less<>> sources_;  // by rank
  Checkpoints checkpoints_;
};

}  // namespace runs
