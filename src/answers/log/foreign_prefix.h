// Prefixes of log lines that are in no list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace answers {

// What a number of a prefix or of a field counts, by what stands before it.
enum class ProcessNumber {
  kOther,
  kUnnamed,    // "[", "<", "#", "| " or nothing stands before it
  kRank,       // "rank", "r", "ddp"
  kLocalRank,  // "gpu", "cuda", "process": one of a node's processes
};
ProcessNumber WhatNumberIs(std::string_view before);

struct ForeignPrefix {
  size_t size = 0;  // length of the prefix; 0 without one
  std::optional<int> rank, local_rank;
  std::string source;  // the part of it that names a process: without times and plain numbers
};

// The words of a traceback, and of torchrun's table, are fixed. Text before the first line, or
// before its frames, that is repeated before the following lines with other numbers is therefore a
// prefix of the log's lines. A number in it that no word names is the rank if it is 0 in some lines
// and another one in others, and each has several lines. Returns one for each line; sources only if
// there are several. Pure.
std::vector<ForeignPrefix> FindForeignPrefixes(const std::vector<std::string_view>& lines);

}  // namespace answers
