#include "answers/log/passed_tests.h"

#include <algorithm>
#include <array>
#include <string>

#include "answers/program_words.h"
#include "base/strings.h"

namespace answers {
namespace {

// The last lines that are not empty, the last one first, without Python's warnings and their lines
// of code below, which may follow when the process ends.
std::vector<std::string_view> LastSaidLines(const std::vector<std::string_view>& lines) {
  constexpr size_t kMost = 4;
  std::vector<std::string_view> last;
  for (size_t i = lines.size(); i-- > 0 && last.size() < kMost;) {
    const std::string_view text = base::Trim(lines[i]);
    const bool is_end =
        last.empty() && (IsWarning(text) || lines[i].starts_with("  warnings.warn("));
    if (!text.empty() && !is_end) last.push_back(text);
  }
  return last;
}

bool IsCount(std::string_view text) { return base::ParseInt(text).value_or(0) > 0; }

// Reads "OK" and "OK (skipped=1)" below "Ran 3 tests in 0.120s" (unittest/runner.py).
bool IsOfUnittest(const std::vector<std::string_view>& last) {
  if (last.size() < 2 || (last[0] != "OK" && !last[0].starts_with("OK ("))) return false;
  const std::vector<std::string> words = base::Split(last[1], ' ');
  return words.size() == 5 && words[0] == "Ran" && IsCount(words[1]) &&
         words[2].starts_with("test") && words[3] == "in" && words[4].ends_with('s');
}

// Reads "===== 3 passed, 1 skipped in 0.12s (0:01:02) =====", with -q without the rulers
// (_pytest/terminal.py).
bool IsOfPytest(std::string_view line) {
  static constexpr auto kOutcomes = std::to_array<std::string_view>(
      {"passed", "skipped", "deselected", "xfailed", "xpassed", "warning", "warnings", "rerun"});
  const size_t begin = line.find_first_not_of("= ");
  const size_t in = line.find(" in ");
  if (begin == line.npos || in == line.npos || in <= begin) return false;
  const std::string_view time = line.substr(in + 4);
  const size_t unit = time.find_first_not_of("0123456789.");
  if (unit == 0 || unit == time.npos || time[unit] != 's') return false;
  bool has_passed = false;
  for (const std::string& part : base::Split(line.substr(begin, in - begin), ',')) {
    const std::string_view text = base::Trim(part);
    const size_t blank = text.find(' ');
    const std::string_view outcome = blank == text.npos ? "" : text.substr(blank + 1);
    if (!IsCount(text.substr(0, blank)) ||
        std::find(kOutcomes.begin(), kOutcomes.end(), outcome) == kOutcomes.end()) {
      return false;
    }
    has_passed = has_passed || outcome == "passed";
  }
  return has_passed;
}

// Reads "[  PASSED  ] 3 tests.", below which GoogleTest may say that some are disabled.
bool IsOfGoogleTest(const std::vector<std::string_view>& last) {
  const bool has_disabled = last.size() > 1 && last[0].starts_with("YOU HAVE ") &&
                            last[0].find(" DISABLED TEST") != std::string_view::npos;
  const std::string_view line = last[has_disabled ? 1 : 0];
  return line.starts_with("[  PASSED  ] ") && line.find(" test") != std::string_view::npos;
}

bool IsOfCtest(const std::vector<std::string_view>& last) {
  return last.size() > 1 && last[0].starts_with("Total Test time (real) =") &&
         last[1].starts_with("100% tests passed");
}

}  // namespace

bool EndsWithPassedTests(const std::vector<std::string_view>& lines) {
  const std::vector<std::string_view> last = LastSaidLines(lines);
  return !last.empty() &&
         (IsOfUnittest(last) || IsOfPytest(last[0]) || IsOfGoogleTest(last) || IsOfCtest(last));
}

}  // namespace answers
