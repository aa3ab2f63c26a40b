// Prefixes of log lines that are in no list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace answers {

struct ForeignPrefix {
  size_t size = 0;  // length of the prefix; 0 without one
  std::optional<int> rank, local_rank;
  std::string source;  // the part of it that names a process: without times and plain numbers
};

// The words of a traceback, and of torchrun's table, are fixed. Text before the first line, or
// before its frames, that is repeated before the following lines with other numbers is therefore a
// prefix of the log's lines. Returns one for each line; sources only if there are several. Pure.
std::vector<ForeignPrefix> FindForeignPrefixes(const std::vector<std::string_view>& lines);

}  // namespace answers
