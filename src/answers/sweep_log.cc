#include "answers/sweep_log.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"

namespace answers {
namespace {

// "4 of 4 trials ended, 2 of them failed"; the failures follow (arena/run/sweep_runner.cc).
bool IsSummary(const Line& line) {
  return line.text.ends_with(" of them failed") &&
         (line.text.find(" trials ended, ") != std::string::npos ||
          line.text.find(" trial ended, ") != std::string::npos);
}

}  // namespace

std::optional<std::string> KeepFailedTrial(std::vector<Line>& lines) {
  const auto summary = std::find_if(lines.rbegin(), lines.rend(), IsSummary);
  if (summary == lines.rend() || summary == lines.rbegin()) return std::nullopt;
  std::string failure(base::Trim(summary.base()->text));
  const size_t end = failure.find(" exited with code ");
  if (end == std::string::npos) return std::nullopt;
  const std::string label = "[" + failure.substr(0, end) + "] ";
  std::vector<Line> kept;
  for (auto line = lines.begin(); line != summary.base(); ++line) {
    if (!line->text.starts_with(label)) continue;
    kept.push_back(*line);
    kept.back().text.erase(0, label.size());
  }
  if (kept.empty()) return std::nullopt;
  lines = std::move(kept);
  return failure;
}

}  // namespace answers
