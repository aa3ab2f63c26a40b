#include "api/gpu_troubles.h"

#include "base/strings.h"

namespace api {

std::string FormatGpuTroubles(const GpuTroubles& troubles) {
  std::string text = base::FormatRfc3339(troubles.time);
  for (const std::string& one : troubles.texts) text += "\n" + one;
  return text;
}

std::optional<GpuTroubles> ReadGpuTroubles(std::string_view text) {
  const std::vector<std::string> lines = base::Split(text, '\n');
  const auto time = base::ParseRfc3339(lines.empty() ? "" : lines[0]);
  if (!time || lines.size() < 2) return std::nullopt;
  return GpuTroubles{*time, {lines.begin() + 1, lines.end()}};
}

}  // namespace api
