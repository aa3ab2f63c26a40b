// Checkpoints in the lines that trainings print. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "runs/progress/step_mark.h"

namespace runs {

struct CheckpointLine {
  enum class Kind { kSaves, kSaved, kLoads, kLoaded };
  Kind kind = Kind::kSaves;
  std::optional<double> seconds;  // its duration, if the line states it
};

// For "Saving model checkpoint to out/checkpoint-500", "saved checkpoint in 3.2s", "Loading
// checkpoint x.pt", "Resumed from step 500"; nullopt for other lines.
std::optional<CheckpointLine> CheckpointIn(std::string_view line);

struct CheckpointSpan {
  Millis begin = 0;
  Millis end = 0;
  bool is_load = false;
};

// Turns lines into the times in which a checkpoint was saved or loaded: from a line that reports it
// to the next line, or for the duration that the line states.
class Checkpoints {
 public:
  // A span that ends with this line.
  std::optional<CheckpointSpan> See(Millis at, std::string_view line);

 private:
  std::optional<CheckpointSpan> open_;
};

}  // namespace runs
