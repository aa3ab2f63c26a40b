#include "answers/files/killed_ranks.h"

#include <cstdint>

#include "base/strings.h"

namespace answers {
namespace {

std::optional<int> KilledIn(std::string_view line) {
  constexpr std::string_view kWords = "Killed process ";
  const size_t at = line.find(kWords);
  if (at == std::string_view::npos) return std::nullopt;
  line = line.substr(at + kWords.size());
  const auto pid = base::ParseInt(line.substr(0, line.find(' ')));
  return pid && *pid > 0 && *pid <= INT32_MAX ? std::optional(static_cast<int>(*pid))
                                              : std::nullopt;
}

}  // namespace

KilledRanks::KilledRanks(const std::vector<File>& files) {
  for (const File& file : files) {
    for (const auto& [pid, rank] : file.words.ranks_of_pids) AddRankOfPid(ranks_, pid, rank);
  }
}

std::optional<int> KilledRanks::RankIn(std::string_view line) const {
  const auto pid = KilledIn(line);
  const auto known = pid ? ranks_.find(*pid) : ranks_.end();
  return known == ranks_.end() ? std::nullopt : known->second;
}

}  // namespace answers
