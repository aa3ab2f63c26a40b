#include "api/last_collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace api {

std::string FormatLastCollectives(const std::vector<LastCollective>& ranks) {
  std::string text;
  for (size_t i = 0; i < std::min(ranks.size(), kMostLastCollectives); ++i) {
    text +=
        fmt::format("{} {} {}\n", ranks[i].rank, base::FormatRfc3339(ranks[i].time), ranks[i].text);
  }
  return text;
}

std::vector<LastCollective> ReadLastCollectives(std::string_view text) {
  std::vector<LastCollective> ranks;
  for (const std::string& line : base::Split(text, '\n')) {
    const size_t time = line.find(' ');
    const size_t words = time == std::string::npos ? time : line.find(' ', time + 1);
    if (words == std::string::npos || ranks.size() == kMostLastCollectives) continue;
    const auto rank = base::ParseInt(std::string_view(line).substr(0, time));
    const auto at = base::ParseRfc3339(line.substr(time + 1, words - time - 1));
    if (!rank || *rank < 0 || *rank > 1'000'000 || !at) continue;
    ranks.push_back({static_cast<int>(*rank), *at, line.substr(words + 1)});
  }
  return ranks;
}

}  // namespace api
