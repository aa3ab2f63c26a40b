// Checkpoints in the lines that trainings print. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace runs {

struct CheckpointLine {
  enum class Kind { kSaves, kSaved, kLoads, kLoaded };
  Kind kind = Kind::kSaves;
  std::optional<double> seconds;  // that it took, where the line says so
};

// Of "Saving model checkpoint to out/checkpoint-500", "saved checkpoint in 3.2s", "Loading
// checkpoint x.pt", "Resumed from step 500"; nullopt for other lines.
std::optional<CheckpointLine> CheckpointIn(std::string_view line);

}  // namespace runs
