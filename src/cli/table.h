// Text tables that look as Go's text/tabwriter prints them (minwidth 0, padding 2, blanks).
#pragma once

#include <string>
#include <vector>

namespace cli {

// Rows of cells. A row's last cell is never padded; a column's width holds for a run of adjacent
// rows that have a cell after it, so a row of one cell (a blank line, a heading) ends the columns.
class Table {
 public:
  // `indent` stands before each row that is not empty.
  explicit Table(std::string indent = "") : indent_(std::move(indent)) {}

  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Render() const;

 private:
  std::string indent_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that UTF-8 text takes, one per code point as tabwriter counts; its colours take none.
size_t TextWidth(const std::string& text);

}  // namespace cli
