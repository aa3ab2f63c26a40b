#include "answers/peers/gathered_error.h"

#include <algorithm>

#include "answers/rank_number.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kKeys = "CheckpointException ranks:dict_keys([";
constexpr std::string_view kOfRank = ": (RANK ";

std::optional<int> RankOfSection(std::string_view line) {
  const size_t at = line.find(kOfRank);
  if (at == std::string_view::npos || !line.ends_with(')')) return std::nullopt;
  if (line.substr(0, at + 1) != kTracebackHeader) return std::nullopt;
  const size_t begin = at + kOfRank.size();
  return RankNumber(line.substr(begin, line.size() - 1 - begin));
}

bool HasRaised(const Rank& rank) {
  return std::any_of(rank.lines.begin(), rank.lines.end(),
                     [](const Line& line) { return !RanksOfGathered(line.text).empty(); });
}

bool HasRankZeroRaised(const Evidence& evidence) {
  return std::any_of(evidence.ranks.begin(), evidence.ranks.end(),
                     [](const Rank& rank) { return rank.rank == 0 && HasRaised(rank); });
}

// The last ones: a program may have gone on without an earlier checkpoint.
std::set<int> RanksIn(const Rank& rank) {
  for (auto line = rank.lines.rbegin(); line != rank.lines.rend(); ++line) {
    if (auto ranks = RanksOfGathered(line->text); !ranks.empty()) return ranks;
  }
  std::set<int> ranks;  // the log has lost the line
  for (const Line& line : rank.lines) {
    if (const auto number = RankOfSection(line.text)) ranks.insert(*number);
  }
  return ranks;
}

}  // namespace

std::set<int> RanksOfGathered(std::string_view line) {
  const size_t at = line.find(kKeys);
  const size_t end = line.find("])", at);
  if (end == std::string_view::npos) return {};
  std::set<int> ranks;
  const size_t begin = at + kKeys.size();
  for (const std::string& part : base::Split(line.substr(begin, end - begin), ',')) {
    const auto number = RankNumber(base::Trim(part));
    if (!number) return {};
    ranks.insert(*number);
  }
  return ranks;
}

std::set<int> GatheredIn(const Rank& rank, const std::vector<std::string>& words,
                         const Evidence& evidence) {
  const bool is_gathered = std::any_of(words.begin(), words.end(), [](std::string_view line) {
    return !RanksOfGathered(line).empty() || RankOfSection(line);
  });
  std::set<int> ranks = is_gathered ? RanksIn(rank) : std::set<int>();
  if (ranks == std::set<int>{0} && !HasRankZeroRaised(evidence)) return {};
  return ranks;
}

std::set<int> NamedAloneByGathered(const Evidence& evidence) {
  std::set<int> named;
  for (const Rank& rank : evidence.ranks) {
    const std::set<int> ranks = RanksIn(rank);
    if (ranks.size() == 1 && *ranks.begin() > 0) named.insert(*ranks.begin());
  }
  return named;
}

}  // namespace answers
