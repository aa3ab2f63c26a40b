// A whole terminal as cells, and the bytes that change what it shows. It is our own, so that the
// static program needs no terminfo. It uses only what all terminals have had since the VT100:
// cursor movements and a few colours. Pure.
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

  // Writes UTF-8 from that cell on, cut at `columns` and at the right edge; what is cut ends with
  // an ellipsis, where it has two columns. Characters that move the cursor become spaces, and
  // malformed ones and ones that do not take one column become "?", so that nothing in a log can
  // control the terminal. Returns the next column.
  size_t Put(size_t column, size_t row, std::string_view text, Style style = Style::kPlain,
             size_t columns = SIZE_MAX);
  // Sets the style of a whole row.
  void Fill(size_t row, Style style);

  bool operator==(const Screen&) const = default;

 private:
  size_t width_;
  std::vector<Cell> cells_;
};

// The bytes that make a terminal that shows `before` show `after`. If their sizes differ, clears
// the terminal and draws everything. Without colours the styles are bold, dim and reverse.
std::string Changes(const Screen& before, const Screen& after, bool has_colour);

}  // namespace cli
