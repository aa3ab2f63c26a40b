#include "cli/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace cli {
namespace {

// The SGR sequence of each style, with colours and without.
constexpr std::array<std::string_view, 8> kColours = {"0",    "0;1",  "0;2",  "0;32",
                                                      "0;36", "0;33", "0;31", "0;7"};
constexpr std::array<std::string_view, 8> kNoColours = {"0", "0;1", "0;2", "0",
                                                        "0", "0",   "0;1", "0;7"};
// Up to this many unchanged cells are printed again, because a cursor movement is not shorter.
constexpr size_t kShortGap = 6;
constexpr char32_t kCutMark = U'\u2026';  // ends a text that was cut

// Takes the first code point from `text`; U+FFFD for malformed bytes.
char32_t TakeCodePoint(std::string_view& text) {
  const size_t length = base::Utf8Length(text);
  const std::string_view bytes = text.substr(0, std::max<size_t>(length, 1));
  text.remove_prefix(bytes.size());
  if (length == 0) return 0xfffd;
  const auto first = static_cast<unsigned char>(bytes.front());
  char32_t point = length == 1 ? first : first & (0x7f >> length);
  for (const char byte : bytes.substr(1)) {
    point = point << 6 | (static_cast<unsigned char>(byte) & 0x3f);
  }
  return point;
}

// European letters, punctuation, arrows, box drawing, blocks and braille take one column each.
bool TakesOneColumn(char32_t point) {
  if (point >= 0x20 && point < 0x7f) return true;
  if (point >= 0xa1 && point < 0x300 && point != 0xad) return true;
  if (point >= 0x370 && point < 0x483) return true;
  if (point >= 0x48a && point < 0x530) return true;
  if (point >= 0x2010 && point < 0x2028) return true;
  if (point >= 0x2030 && point < 0x205f) return true;
  if (point >= 0x20a0 && point < 0x20c0) return true;
  if (point >= 0x2100 && point < 0x231a) return true;
  return (point >= 0x2500 && point < 0x25fd) || (point >= 0x2800 && point < 0x2900);
}

char32_t GlyphOf(char32_t point) {
  if (point < 0x20 || (point >= 0x7f && point <= 0xa0)) return U' ';
  return TakesOneColumn(point) ? point : U'?';
}

}  // namespace

size_t Screen::Put(size_t column, size_t row, std::string_view text, Style style, size_t columns) {
  if (row >= height()) return column;
  const size_t first = column;
  const size_t end = columns > width_ || column > width_ - columns ? width_ : column + columns;
  while (!text.empty() && column < end) {
    cells_[row * width_ + column++] = {GlyphOf(TakeCodePoint(text)), style};
  }
  const bool is_cut = !text.empty() && column == end && end > first + 1;
  if (is_cut) cells_[row * width_ + column - 1] = {kCutMark, style};
  return column;
}

void Screen::Fill(size_t row, Style style) {
  for (size_t column = 0; row < height() && column < width_; ++column) {
    cells_[row * width_ + column].style = style;
  }
}

std::string Changes(const Screen& before, const Screen& after, bool has_colour) {
  const bool is_same_size = before.width() == after.width() && before.height() == after.height();
  std::string text = is_same_size ? "" : "\x1b[0m\x1b[2J";
  const Screen blank(after.width(), after.height());
  const Screen& shown = is_same_size ? before : blank;
  const auto& styles = has_colour ? kColours : kNoColours;
  std::string_view style = styles[0];  // each frame ends with it
  for (size_t row = 0; row < after.height(); ++row) {
    size_t cursor = SIZE_MAX;  // its column in this row
    for (size_t column = 0; column < after.width(); ++column) {
      if (shown.at(column, row) == after.at(column, row)) continue;
      size_t from = column;
      if (cursor != SIZE_MAX && column - cursor <= kShortGap) {
        from = cursor;
      } else {
        text += fmt::format("\x1b[{};{}H", row + 1, column + 1);
      }
      for (size_t at = from; at <= column; ++at) {
        const Cell& cell = after.at(at, row);
        const std::string_view wanted = styles[static_cast<size_t>(cell.style)];
        if (wanted != style) text += fmt::format("\x1b[{}m", wanted);
        style = wanted;
        base::AppendUtf8(cell.glyph, text);
      }
      cursor = column + 1;
    }
  }
  if (!text.empty() && style != styles[0]) text += "\x1b[0m";
  return text;
}

}  // namespace cli
