#include "answers/log/own_rank.h"

#include <array>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// The text before the number, and directly after it.
struct Naming {
  std::string_view before, behind;
};
constexpr auto kNamings = std::to_array<Naming>({
    {"did not receive grad for rank ", ":"},
    {"[", "] is setting up NCCL communicator"},
    {"[Rank ", "] Caught collective operation timeout"},
    {"[Rank ", "] Work WorkNCCL("},
    {"communicator was aborted on rank ", "."},
    {"[", "]: params["},
    {"Rank ", ": found NaN in "},
    {"Rank ", ", node "},
    {"rank=", "] Uncaught "},
    {"rank=", "] Unhandled "},
    {"rank: ", "] Uncaught "},
    {"rank ", "] Uncaught "},
});

std::optional<int> RankBy(const Naming& naming, std::string_view text) {
  for (size_t at = text.find(naming.before); at != std::string_view::npos;
       at = text.find(naming.before, at + 1)) {
    const std::string_view rest = text.substr(at + naming.before.size());
    const size_t end = rest.find_first_not_of("0123456789");
    if (end == 0 || end == std::string_view::npos) continue;
    if (rest.substr(end).starts_with(naming.behind)) return RankNumber(rest.substr(0, end));
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> OwnRankIn(const std::vector<Line>& lines) {
  std::optional<int> own;
  for (const Line& line : lines) {
    for (const Naming& naming : kNamings) {
      const auto rank = RankBy(naming, line.text);
      if (rank && own && own != rank) return std::nullopt;
      if (rank) own = rank;
    }
  }
  return own;
}

}  // namespace answers
