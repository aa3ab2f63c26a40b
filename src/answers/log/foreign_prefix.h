// Prefixes of log lines that are in no list.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
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

// A number of a prefix or a field that may be its process'.
struct ProcessSlot {
  int number = 0;
  ProcessNumber kind = ProcessNumber::kOther;
  size_t begin = 0, end = 0;
};
// The first one from `begin` on; nullopt if there is none. Pure.
std::optional<ProcessSlot> FindProcessSlot(std::string_view text, size_t begin = 0);

// Whether the word directly before "rank" makes it another number: "local rank", "LoRA rank",
// "node_rank".
bool IsOfOtherRank(std::string_view before);

// The numbers in the same place of a log's lines.
class NumbersInPlace {
 public:
  void Add(int number);
  // Whether each number came after all smaller ones, and 0 never again after the largest: progress,
  // seconds or attempts, of one process or of several that do the same.
  bool MayBeCounter() const;
  // Whether one was smaller than that of the line before, and no 0.
  bool Falls() const { return falls_; }
  size_t lines() const { return lines_; }
  const std::set<int>& numbers() const { return numbers_; }

 private:
  size_t lines_ = 0;
  std::set<int> numbers_;
  int last_ = 0;
  bool falls_ = false;
  bool is_in_order_ = true;
  size_t last_of_zero_ = 0, first_of_largest_ = 0;
};

struct ForeignPrefix {
  size_t size = 0;  // length of the prefix; 0 without one
  std::optional<int> rank, local_rank;
  std::string source;  // the part of it that names a process: without times and plain numbers
};

// The words of a traceback, and of torchrun's table, are fixed. Text before the first line, or
// before its frames, that is repeated before the following lines with other numbers is therefore a
// prefix of the log's lines. A number in it that no word names is the rank if it is 0 in some lines
// and others in others, if there are at least twice as many lines as numbers, and if it is no
// counter. Returns one for each line; sources only if there are several. Pure.
std::vector<ForeignPrefix> FindForeignPrefixes(const std::vector<std::string_view>& lines);

}  // namespace answers
