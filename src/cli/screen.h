// A whole terminal as cells, and what to send it so that it shows other ones. Ours, for the static
// program needs no terminfo then, and what is used of a terminal is what all of them have had since
// the VT100: moving the cursor, a few colours. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

enum class Style { kPlain, kStrong, kDim, kGood, kBusy, kWaiting, kBad, kSelected };

struct Cell {
  char32_t glyph = U' ';
  Style style = Style::kPlain;
  bool operator==(const Cell&) const = default;
};

class Screen {
 public:
  Screen(size_t width, size_t height) : width_(width), cells_(width * height) {}

  size_t width() const { return width_; }
  size_t height() const { return width_ == 0 ? 0 : cells_.size() / width_; }
  const Cell& at(size_t column, size_t row) const { return cells_[row * width_ + column]; }

  // UTF-8 from that cell on, cut at `columns` and at the right edge. What moves a cursor becomes a
  // blank, and what takes two columns or none, or is malformed, "?": nothing that a log holds can
  // reach the terminal. Returns the column behind it.
  size_t Put(size_t column, size_t row, std::string_view text, Style style = Style::kPlain,
             size_t columns = SIZE_MAX);
  // The style of a whole row.
  void Fill(size_t row, Style style);

  bool operator==(const Screen&) const = default;

 private:
  size_t width_;
  std::vector<Cell> cells_;
};

// What turns `before` into `after` on a terminal that shows `before`; of screens of different sizes
// all of it, after clearing. Without colours styles are bold, dim and reverse.
std::string Changes(const Screen& before, const Screen& after, bool has_colour);

}  // namespace cli
