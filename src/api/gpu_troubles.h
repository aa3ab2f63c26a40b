// The annotation of a failed pod that holds what the driver then reported about its GPUs
// (gpu/inventory.h): a line with the time, and one for each trouble.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace api {

inline constexpr std::string_view kGpuTroublesAnnotation = "muster.dev/gpu-troubles";

struct GpuTroubles {
  base::Time time{};
  std::vector<std::string> texts;
};

std::string FormatGpuTroubles(const GpuTroubles& troubles);
// Nullopt if there are none, or they are malformed.
std::optional<GpuTroubles> ReadGpuTroubles(std::string_view text);

}  // namespace api
