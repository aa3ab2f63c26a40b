#include "runs/progress/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/strings.h"

namespace runs {
namespace {

std::string Left(int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{:.1f} h", static_cast<double>(seconds) / 3600);
}

}  // namespace

std::optional<int64_t> PercentOf(const LineProgress& progress) {
  double part = -1;
  const bool has_steps = progress.step && progress.steps && *progress.steps > 0;
  const double steps =
      has_steps ? static_cast<double>(*progress.step) / static_cast<double>(*progress.steps) : 0;
  if (progress.epoch && progress.epochs && *progress.epochs > 0) {
    const bool is_whole = *progress.epoch == std::floor(*progress.epoch);
    part = (*progress.epoch + (has_steps && is_whole ? steps : 0)) /
           static_cast<double>(*progress.epochs);
  } else if (has_steps) {
    part = steps;
  }
  if (part < 0) return std::nullopt;
  return static_cast<int64_t>(100 * std::min(part, 1.0));
}

std::string DescribeProgress(const SourceProgress& progress) {
  const LineProgress& line = progress.progress;
  std::vector<std::string> parts;
  if (line.step) {
    parts.push_back(line.steps ? fmt::format("step {}/{}", *line.step, *line.steps)
                               : fmt::format("step {}", *line.step));
  }
  if (line.epoch) {
    parts.push_back(line.epochs ? fmt::format("epoch {:.4g}/{}", *line.epoch, *line.epochs)
                                : fmt::format("epoch {:.4g}", *line.epoch));
  }
  if (progress.percent) {
    const std::string percent = fmt::format("{}%", *progress.percent);
    if (parts.empty()) {
      parts.push_back(percent);
    } else {
      parts.back() += " (" + percent + ")";
    }
  }
  const bool is_done = line.step && line.steps && *line.step >= *line.steps;
  if (line.seconds_left && !is_done) parts.push_back(Left(*line.seconds_left) + " left");
  for (const auto& [name, value] : line.scalars) {
    if (parts.size() >= 5) break;
    if (base::ToLower(name).find("loss") != std::string::npos) {
      parts.push_back(fmt::format("{} {:.4g}", name, value));
    }
  }
  return base::Join(parts, ", ");
}

}  // namespace runs
