// The global ranks of nodes' local ranks, and whether anything tells them.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/files/file.h"
#include "answers/log/launcher_words.h"
#include "answers/log/split_lines.h"

namespace answers {

// Whether the row is about this node: a table also names a rank that failed first on another node.
bool IsHere(const LauncherRow& row, const LauncherWords& words);

// The source of torchrun's table, if each line has one and all tables are from the same one.
std::optional<std::string_view> TablesPod(const std::vector<Split>& lines);

// Finds the global rank of a node's local rank, from its lines and from its agent's tables.
class LocalRanks {
 public:
  LocalRanks(const std::vector<Split>& lines, const LauncherWords& words);

  // Whether the local rank is all that is known.
  bool IsUnknown(const Split& split) const;
  std::optional<int> RankOf(const Split& split) const;

 private:
  const std::optional<NodeRanks> node_;
  std::map<std::pair<std::string_view, int>, std::optional<int>> ranks_;
};

// Whether the local ranks are those of several nodes, of which nobody says which ranks they have:
// a number is in the files of two hosts, or the lines around it are of two pods.
bool HasUnknownNodes(const std::vector<File>& files, const std::vector<LocalRanks>& locals);

}  // namespace answers
