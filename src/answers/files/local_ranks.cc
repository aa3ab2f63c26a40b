#include "answers/files/local_ranks.h"

#include <algorithm>
#include <set>

#include "answers/log/pods/file_rank.h"
#include "base/strings.h"

namespace answers {
namespace {

// Whether the pods of the lines are several nodes, of which one is `pod`.
bool IsOneOfNodes(const File& file, std::string_view pod) {
  return !pod.empty() &&
         std::any_of(file.lines.begin(), file.lines.end(), [pod](const Split& split) {
           return !split.pod.empty() && AreOfTwoHosts(split.pod, pod);
         });
}

}  // namespace

bool IsHere(const LauncherRow& row, const LauncherWords& words) {
  return !row.rank || !words.ranks ||
         (*row.rank >= words.ranks->first && *row.rank <= words.ranks->last);
}

std::optional<std::string_view> TablesPod(const std::vector<Split>& lines) {
  std::set<std::string_view> pods;
  for (const Split& split : lines) {
    if (base::Trim(split.line.text).starts_with("Root Cause (first observed failure)")) {
      pods.insert(split.pod);
    }
  }
  return pods.size() == 1 && !pods.begin()->empty() ? std::optional(*pods.begin()) : std::nullopt;
}

LocalRanks::LocalRanks(const std::vector<Split>& lines, const LauncherWords& words)
    : node_(words.ranks) {
  std::map<std::string_view, std::vector<std::string_view>> texts;
  for (const Split& split : lines) {
    if (!split.rank && !split.local_rank) texts[split.pod].push_back(split.line.text);
  }
  for (const auto& [pod, of_pod] : texts) {
    for (const auto& [local, rank] : ReadRanksOfLocals(of_pod)) ranks_[{pod, local}] = rank;
  }
  const std::string_view tables = TablesPod(lines).value_or("");
  for (const LauncherRow& row : words.rows) {
    if (!IsHere(row, words)) continue;
    if (row.rank && row.local_rank && !row.is_local) ranks_[{tables, *row.local_rank}] = row.rank;
  }
  for (const Split& split : lines) {
    if (split.rank && split.local_rank) ranks_[{split.pod, *split.local_rank}] = split.rank;
  }
}

bool LocalRanks::IsUnknown(const Split& split) const {
  return !split.rank && split.local_rank && !ranks_.contains({split.pod, *split.local_rank}) &&
         !(node_ && split.pod.empty());
}

std::optional<int> LocalRanks::RankOf(const Split& split) const {
  if (split.rank || !split.local_rank) return split.rank;
  const auto known = ranks_.find({split.pod, *split.local_rank});
  if (known != ranks_.end()) return known->second;
  return node_ && split.pod.empty() ? node_->first + *split.local_rank : split.local_rank;
}

bool HasUnknownNodes(const std::vector<File>& files, const std::vector<LocalRanks>& locals) {
  std::map<int, std::set<std::string_view>> names;
  for (size_t i = 0; i < files.size(); ++i) {
    const File& file = files[i];
    for (const Split& split : file.lines) {
      if (!locals[i].IsUnknown(split)) continue;
      const std::string_view name = split.pod.empty() ? file.log->name : split.pod;
      const auto [place, is_new] = names[*split.local_rank].insert(name);
      if (!is_new) continue;
      if (IsOneOfNodes(file, split.pod)) return true;
      for (const std::string_view other : names[*split.local_rank]) {
        if (AreOfTwoHosts(name, other)) return true;
      }
    }
  }
  return false;
}

}  // namespace answers
