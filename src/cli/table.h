// Text tables in the format of Go's text/tabwriter (minwidth 0, padding 2, blanks).
#pragma once

#include <string>
#include <vector>

namespace cli {

// Rows of cells. The last cell of a row is never padded. A column's width applies to a run of
// adjacent rows with a cell after it, so a row of one cell (a blank line, a heading) ends the
// columns.
class Table {
 public:
  // `indent` precedes each row that is not empty.
  explicit Table(std::string indent = "") : indent_(std::move(indent)) {}

  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Render() const;

 private:
  std::string indent_;
  std::vector<std::vector<std::string>> rows_;
};

// The width of UTF-8 text: one column per code point, as tabwriter counts; colours have none.
size_t TextWidth(const std::string& text);

}  // namespace cli
