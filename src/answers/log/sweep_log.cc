#include "answers/log/sweep_log.h"

#include <algorithm>
#include <string_view>

#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

// The failures follow "4 of 4 trials ended, 2 of them failed" (arena/run/sweep_runner.cc).
bool IsSummary(const LogLine& line) {
  return line.text.ends_with(" of them failed") &&
         (line.text.find(" trials ended, ") != std::string::npos ||
          line.text.find(" trial ended, ") != std::string::npos);
}

// "exited with code 1" and, after kLastLineMark, the trial's last line.
constexpr std::string_view kTrialEnd = " exited with code ";
constexpr std::string_view kLastLineMark = ": ";

}  // namespace

void KeepTrial(std::vector<LogLine>& lines, std::string_view trial) {
  const std::string label = "[" + std::string(trial) + "] ";
  std::erase_if(lines, [&label](LogLine& line) {
    if (!line.text.starts_with(label)) return !ReadWitness(line.text).has_value();
    line.text.remove_prefix(label.size());
    return false;
  });
}

std::optional<FailedTrial> KeepFailedTrial(std::vector<LogLine>& lines) {
  const auto summary = std::find_if(lines.rbegin(), lines.rend(), IsSummary);
  if (summary == lines.rend() || summary == lines.rbegin()) return std::nullopt;
  LogLine last = *summary.base();
  const std::string failure(base::Trim(last.text));
  const size_t end = failure.find(kTrialEnd);
  if (end == std::string::npos) return std::nullopt;
  KeepTrial(lines, failure.substr(0, end));
  const bool has_words = std::any_of(lines.begin(), lines.end(), [](const LogLine& line) {
    return !ReadWitness(line.text).has_value();
  });
  // The trial's own lines may be too far back; this line repeats the last of them.
  const size_t words = last.text.find(kLastLineMark, last.text.find(kTrialEnd));
  if (!has_words && words != std::string_view::npos) {
    last.text.remove_prefix(words + kLastLineMark.size());
    lines.insert(lines.begin(), last);
  }
  const std::string_view code = std::string_view(failure).substr(end + kTrialEnd.size());
  const auto number = base::ParseInt(code.substr(0, code.find(':')));
  return FailedTrial{failure, number ? std::optional(static_cast<int>(*number)) : std::nullopt};
}

}  // namespace answers
