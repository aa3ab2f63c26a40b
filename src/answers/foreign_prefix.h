// What nobody has on a list, and yet stands before each line of a log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace answers {

struct ForeignPrefix {
  size_t size = 0;  // of the line's text; 0 where none stands
  std::optional<int> rank, local_rank;
  std::string source;  // what of it names a process: no times, no numbers alone
};

// The words of a traceback, and of torchrun's table, are fixed: what stands before the first line,
// or before its frames, and again before the lines that follow, stands before the log's lines, with
// other numbers. One for each line; sources only where there are several. Pure.
std::vector<ForeignPrefix> FindForeignPrefixes(const std::vector<std::string_view>& lines);

}  // namespace answers
