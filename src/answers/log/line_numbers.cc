#include "answers/log/line_numbers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "answers/log/log_line.h"
#include "base/strings.h"

namespace answers {
namespace {

// The number that `grep -n`, `cat -n` or `less -N` has put before a line.
struct LineNumber {
  int64_t number = 0;
  size_t size = 0;            // of the number and the sign behind it
  bool is_like_task = false;  // with ": " behind it, as `srun -l` prints a rank
};

std::optional<LineNumber> ReadLineNumber(std::string_view line) {
  constexpr size_t kMostDigits = 8;
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const size_t end = std::min(line.find_first_not_of("0123456789", begin), line.size());
  const auto number = base::ParseInt(line.substr(begin, end - begin));
  if (!number || end - begin > kMostDigits || end == line.size()) return std::nullopt;
  const std::string_view rest = line.substr(end);
  if (IsClock(line.substr(begin)) ||
      std::string_view(":-\t").find(rest[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  return LineNumber{*number, end + 1, rest.starts_with(": ")};
}

// Whether srun says in this line how one of these tasks ended: "srun: error: n1: tasks 0-3,5:
// Exited with exit code 1".
bool NamesOneOf(const std::set<int64_t>& tasks, std::string_view line) {
  constexpr std::string_view kTask = ": task";
  const size_t at = line.find(kTask);
  if (at == line.npos) return false;
  line.remove_prefix(at + kTask.size());
  Take(line, "s");
  if (!Take(line, " ")) return false;
  for (const std::string& part : base::Split(line.substr(0, line.find(':')), ',')) {
    const size_t dash = part.find('-');
    const auto first = base::ParseInt(part.substr(0, dash));
    const auto last = dash == part.npos ? first : base::ParseInt(part.substr(dash + 1));
    if (!first || !last) continue;
    const auto named = tasks.lower_bound(*first);
    if (named != tasks.end() && *named <= *last) return true;
  }
  return false;
}

// Whether all lines but those of Slurm's own programs have a number, and srun names one of these as
// a task's: then `srun -l` has put them there.
bool AreOfTasks(const std::vector<std::string_view>& lines,
                const std::vector<std::optional<LineNumber>>& numbers) {
  std::set<int64_t> tasks;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool is_slurms = line.starts_with("srun: ") || line.starts_with("slurmstepd: ");
    const bool is_full = line.find_first_not_of(" \t\r") != line.npos;
    if (is_full && !is_slurms && (!numbers[i] || !numbers[i]->is_like_task)) return false;
    if (numbers[i]) tasks.insert(numbers[i]->number);
  }
  return std::any_of(lines.begin(), lines.end(), [&tasks](std::string_view line) {
    return line.starts_with("srun: error: ") && NamesOneOf(tasks, line);
  });
}

}  // namespace

bool IsClock(std::string_view text) {
  constexpr std::string_view kForm = "0:00:00";
  const auto is_digit = [&text](size_t at) { return at < text.size() && base::IsDigit(text[at]); };
  if (is_digit(0) && is_digit(1)) text.remove_prefix(1);
  const bool is_time = text.size() >= kForm.size() &&
                       std::equal(kForm.begin(), kForm.end(), text.begin(), [](char form, char c) {
                         return form == ':' ? c == ':' : base::IsDigit(c);
                       });
  text.remove_prefix(std::min(text.size(), kForm.size()));
  const bool goes_on = text.starts_with(':') && is_digit(1) && is_digit(2) && !is_digit(3);
  return is_time && !goes_on;
}

void TakeLineNumbers(std::vector<std::string_view>& lines) {
  constexpr size_t kFewest = 3;
  std::vector<std::optional<LineNumber>> numbers;
  size_t full = 0;
  size_t numbered = 0;
  int64_t last = 0;
  bool are_like_tasks = true;
  for (const std::string_view line : lines) {
    const bool is_full = line.find_first_not_of(" \t\r") != std::string_view::npos;
    full += is_full && line != "--";  // which grep prints between parts of a file
    numbers.push_back(is_full ? ReadLineNumber(line) : std::nullopt);
    if (!numbers.back()) continue;
    if (numbers.back()->number <= last) return;
    last = numbers.back()->number;
    are_like_tasks = are_like_tasks && numbers.back()->is_like_task;
    ++numbered;
  }
  const bool is_whole_file = numbered * 10 >= full * 9;
  // These may be the ranks of a few tasks that each printed one line.
  const bool may_be_ranks =
      is_whole_file && are_like_tasks && last < 3 * static_cast<int64_t>(numbered);
  if (numbered < kFewest || may_be_ranks || AreOfTasks(lines, numbers)) return;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!numbers[i] || (!is_whole_file && !numbers[i]->is_like_task)) continue;
    const bool has_blank = numbers[i]->is_like_task && (are_like_tasks || !is_whole_file);
    lines[i].remove_prefix(numbers[i]->size + (has_blank ? 1 : 0));
  }
}

}  // namespace answers
