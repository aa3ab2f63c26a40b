// Scalars in TensorBoard's events (tensorboard's event.proto, summary.proto and tensor.proto).
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/progress/step_mark.h"

namespace runs {

struct ScalarEvent {
  Millis at = 0;  // wall time by its writer's clock
  int64_t step = 0;
  std::vector<std::pair<std::string, double>> scalars;  // including nan and inf
};
inline constexpr size_t kMostScalarsOfAnEvent = 1024;

// From the data of one record; nullopt for an event without scalars, and for data that is not an
// event.
std::optional<ScalarEvent> ReadEvent(std::string_view record);

}  // namespace runs
