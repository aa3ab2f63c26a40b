#include "answers/log/logger_prefix.h"

#include <algorithm>
#include <string_view>

#include "answers/rank_number.h"

namespace answers {
namespace {

// Takes what consists of these characters; false if nothing does.
bool TakeAll(std::string_view& text, std::string_view characters) {
  const size_t size = std::min(text.find_first_not_of(characters), text.size());
  text.remove_prefix(size);
  return size > 0;
}

// Returns what follows "I1210 18:28:01.790000 1 torch/distributed/run.py:525]".
std::string_view BehindGlogs(std::string_view text) {
  constexpr std::string_view kLevels = "VIWEC";
  if (text.empty() || kLevels.find(text[0]) == std::string_view::npos) return "";
  text.remove_prefix(1);
  if (!TakeAll(text, kDigits) || !Take(text, " ") || !TakeAll(text, "0123456789:.") ||
      !Take(text, " ") || !TakeAll(text, kDigits) || !Take(text, " ")) {
    return "";
  }
  const size_t end = text.find(']');
  const std::string_view place = text.substr(0, end);
  const bool is_place = end != std::string_view::npos && place.find(' ') == place.npos &&
                        place.find("torch/distributed/") != place.npos &&
                        place.find(".py:") != place.npos;
  return is_place ? text.substr(end + 1) : "";
}

// Returns what follows "torch.distributed.run: [INFO]".
std::string_view BehindNames(std::string_view text) {
  if (!Take(text, "torch.distributed.")) return "";
  TakeAll(text, "abcdefghijklmnopqrstuvwxyz_.");
  if (!Take(text, ": [")) return "";
  TakeAll(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  return Take(text, "]") ? text : "";
}

}  // namespace

void TakeLoggerPrefixes(std::vector<LogLine>& lines) {
  for (LogLine& line : lines) {
    std::string_view message = BehindGlogs(line.text);
    if (message.empty()) message = BehindNames(line.text);
    if (message.starts_with("  ")) line.text = message.substr(1);
  }
}

}  // namespace answers
