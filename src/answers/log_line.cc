#include "answers/log_line.h"

#include "base/strings.h"

namespace answers {
namespace {

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// At most four digits.
std::optional<int> TakeNumber(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && digits < 5 && base::IsDigit(text[digits])) ++digits;
  if (digits == 0 || digits > 4) return std::nullopt;
  const auto number = base::ParseInt(text.substr(0, digits));
  text.remove_prefix(digits);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool TakeTime(LogLine& line) {
  constexpr size_t kLongest = 40;
  constexpr size_t kDate = 11;
  const std::string_view text = line.text;
  if (text.size() < kDate || !base::IsDigit(text[0]) || text[4] != '-' || text[10] != 'T') {
    return false;
  }
  const size_t blank = text.substr(0, kLongest).find(' ');
  const std::string_view stamp = text.substr(0, blank);
  const auto time = base::ParseRfc3339(stamp);
  if (!time || blank == std::string_view::npos) return false;
  line.time = *time;
  line.text.remove_prefix(blank + 1);
  for (const std::string_view tag : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
    if (Take(line.text, tag)) break;
  }
  return true;
}

// "[rank3]:", "[default3]:", "[3]: "
bool TakeRank(LogLine& line) {
  std::string_view text = line.text;
  if (!Take(text, "[")) return false;
  const bool is_named = Take(text, "rank") || Take(text, "default");
  const auto rank = TakeNumber(text);
  if (!rank || !Take(text, "]:")) return false;
  if (!is_named && !text.starts_with(' ')) return false;
  Take(text, " ");
  line.rank = rank;
  line.text = text;
  return true;
}

// "[pod/NAME/CONTAINER] ", "[NAME-worker-0] "
bool TakePod(LogLine& line) {
  std::string_view text = line.text;
  if (!Take(text, "[")) return false;
  const bool is_kubectls = Take(text, "pod/");
  const size_t end = text.find_first_of("] \t");
  if (end == std::string_view::npos || end == 0 || !text.substr(end).starts_with("] "))
    return false;
  std::string_view name = text.substr(0, end);
  if (is_kubectls) {
    name = name.substr(0, name.find('/'));
  } else if (name.find("-master-") == std::string_view::npos &&
             name.find("-worker-") == std::string_view::npos) {
    return false;
  }
  line.pod = name;
  line.text = text.substr(end + 2);
  return true;
}

// srun -l pads with blanks to the width of the greatest rank.
bool TakeTask(LogLine& line) {
  std::string_view text = line.text;
  while (Take(text, " ")) {
  }
  const auto rank = TakeNumber(text);
  if (!rank || !Take(text, ": ")) return false;
  line.rank = rank;
  line.text = text;
  return true;
}

bool TakeEscape(LogLine& line) {
  if (!line.text.starts_with("\x1b[")) return false;
  const size_t end = line.text.substr(0, 16).find_first_of("mK");
  if (end == std::string_view::npos) return false;
  line.text.remove_prefix(end + 1);
  return true;
}

}  // namespace

LogLine ReadLogLine(std::string_view text) {
  LogLine line;
  if (text.ends_with('\r')) text.remove_suffix(1);
  line.text = text.substr(text.rfind('\r') + 1);  // the last state of a progress bar
  bool has_task = false;
  for (;;) {
    if (TakeEscape(line) || (!line.time && TakeTime(line)) || (line.pod.empty() && TakePod(line)) ||
        TakeRank(line)) {
      continue;
    }
    if (has_task || line.rank || line.time || !TakeTask(line)) return line;
    has_task = true;
  }
}

}  // namespace answers
