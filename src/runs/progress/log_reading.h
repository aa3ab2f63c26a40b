// What the lines of one log tell of a training's progress. Pure.
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

// Of the lowest rank that speaks of progress: the ranks of a pod may share its log.
class LogReading {
 public:
  struct Told {
    std::optional<LineProgress> progress;
    std::optional<CheckpointSpan> checkpoint;  // that ends with this line
  };
  // `rank`: the line's label, "rank3"; "" of none. `text`: the line without it, whole; of what a
  // progress bar has drawn over, after carriage returns, the last counts.
  Told See(Millis at, std::string_view rank, std::string_view text);

 private:
  bool IsSource(std::string_view rank, std::string_view text);

  std::optional<std::string> rank_;
  std::map<std::string, SourceLines, std::less<>> sources_;  // by rank
  Checkpoints checkpoints_;
};

}  // namespace runs
