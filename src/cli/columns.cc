#include "cli/columns.h"

#include <algorithm>

#include "base/strings.h"

namespace cli {

std::string Wrapped(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t column = 0;
  for (const std::string& word : base::Split(text, ' ')) {
    if (word.empty()) continue;
    if (column != 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    }
    if (column != 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string InColumns(const std::vector<std::pair<std::string, std::string>>& rows,
                      const ColumnLayout& layout) {
  size_t widest = layout.least_left;
  for (const auto& [left, right] : rows) widest = std::max(widest, left.size());
  const size_t first = std::min(widest, layout.widest_left);
  const size_t at = first + layout.gap;
  const std::string next_line = "\n" + std::string(at, ' ');
  std::string out;
  for (const auto& [left, right] : rows) {
    std::string text;
    for (const std::string& line : base::Split(right, '\n')) {
      if (!text.empty()) text += next_line;
      text += layout.width == 0 ? line : Wrapped(line, layout.width - at, at);
    }
    out += left;
    if (!text.empty()) out += left.size() > first ? next_line : std::string(at - left.size(), ' ');
    out += text + "\n";
  }
  return out;
}

}  // namespace cli
