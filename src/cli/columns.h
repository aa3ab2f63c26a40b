// Help in two columns: what is typed, and what it does.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

struct ColumnLayout {
  size_t gap = 2;
  size_t least_left = 0;                   // room for the left side, however narrow it is
  size_t widest_left = std::string::npos;  // a wider one has a line of its own
  size_t width = 0;                        // of lines, broken at blanks; 0: as they are
};

// One or more lines for each row, each ending with \n. The left sides come with their indentation.
std::string InColumns(const std::vector<std::pair<std::string, std::string>>& rows,
                      const ColumnLayout& layout);

// Words to lines of `width`, each after the first behind `indent` blanks.
std::string Wrapped(std::string_view text, size_t width, size_t indent);

}  // namespace cli
