#include "answers/wrapped.h"

#include <algorithm>
#include <string_view>

#include "answers/program_words.h"

namespace answers {

std::string WrappedMessage(std::span<const Line> lines, size_t first) {
  constexpr size_t kNarrowest = 60;
  constexpr size_t kFewest = 3;
  constexpr size_t kMost = 12;
  size_t end = first;
  size_t width = 0;
  for (; end < std::min(lines.size(), first + kMost); ++end) {
    const std::string_view text = lines[end].text;
    if (text.empty() || text.starts_with(' ') || IsProgress(text)) break;
    width = std::max(width, text.size());
  }
  if (width < kNarrowest) return "";
  std::string message = end > first ? lines[first].text : "";
  size_t count = 1;
  for (size_t i = first + 1; i < end; ++i, ++count) {
    const std::string_view text = lines[i].text;
    const size_t word = std::min(text.find(' '), text.size());
    if (lines[i - 1].text.size() + 1 + word <= width) break;
    message.append(" ").append(text);
  }
  return count < kFewest ? "" : message;
}

}  // namespace answers
