#include "answers/log/sweep_log.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

// "4 of 4 trials ended, 2 of them failed"; the failures follow (arena/run/sweep_runner.cc).
bool IsSummary(const LogLine& line) {
  return line.text.ends_with(" of them failed") &&
         (line.text.find(" trials ended, ") != std::string::npos ||
          line.text.find(" trial ended, ") != std::string::npos);
}

}  // namespace

std::optional<std::string> KeepFailedTrial(std::vector<LogLine>& lines) {
  const auto summary = std::find_if(lines.rbegin(), lines.rend(), IsSummary);
  if (summary == lines.rend() || summary == lines.rbegin()) return std::nullopt;
  std::string failure(base::Trim(summary.base()->text));
  const size_t end = failure.find(" exited with code ");
  if (end == std::string::npos) return std::nullopt;
  const std::string label = "[" + failure.substr(0, end) + "] ";
  std::vector<LogLine> kept;
  for (auto line = lines.begin(); line != summary.base(); ++line) {
    if (!line->text.starts_with(label)) continue;
    kept.push_back(*line);
    kept.back().text.remove_prefix(label.size());
  }
  if (kept.empty()) return std::nullopt;
  std::copy_if(summary.base(), lines.end(), std::back_inserter(kept),
               [](const LogLine& line) { return ReadWitness(line.text).has_value(); });
  lines = std::move(kept);
  return failure;
}

}  // namespace answers
