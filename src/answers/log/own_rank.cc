#include "answers/log/own_rank.h"

#include <algorithm>
#include <array>
#include <set>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// The text before the rank's number, and the text directly after it.
struct Naming {
  std::string_view before, behind;
};
constexpr auto kNamings = std::to_array<Naming>({
    {"did not receive grad for rank ", ":"},
    {"[", "] is setting up NCCL communicator"},
    {"[Rank ", "] Caught collective operation timeout"},
    {"[Rank ", "] Work WorkNCCL("},
    // of the default group: in others the number is not the rank in the job
    {"[Rank ", "] Process group watchdog thread terminated"},
    {"[PG 0 Rank ", "] Process group watchdog thread terminated"},
    {"[PG ID 0 PG GUID 0 Rank ", "] Process group watchdog thread terminated"},
    {"(default_pg) Rank ", "] Process group watchdog thread terminated"},
    {"communicator was aborted on rank ", "."},
    {"[", "]: params["},
    {"Rank ", ": found NaN in "},
    {"Rank ", ", node "},
    {"rank=", "] Uncaught "},
    {"rank=", "] Unhandled "},
    {"rank: ", "] Uncaught "},
    {"rank ", "] Uncaught "},
});

// In the line of an exception, these words come from a program that knows its rank.
constexpr auto kInExceptions = std::to_array<std::string_view>(
    {"global rank ", "Global rank ", "global_rank=", "global_rank ",
     "global_rank: ", "Error: [rank", "Error: [rank=", "Error: [Rank ", "Error: [rank ",
     "Error: rank ", "Error: Rank ", "Exception: [rank", "Exception: [Rank ", "Exception: rank ",
     "Exception: Rank "});

std::optional<int> RankInException(std::string_view text) {
  if (text.find("Error: ") == std::string_view::npos &&
      text.find("Exception: ") == std::string_view::npos) {
    return std::nullopt;
  }
  for (const std::string_view before : kInExceptions) {
    const size_t at = text.find(before);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + before.size());
    const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    // "Rank 3 has not joined" is about another rank.
    const bool is_own =
        end < rest.size() && std::string_view(":],)").find(rest[end]) != std::string_view::npos;
    if (end > 0 && is_own) return RankNumber(rest.substr(0, end));
  }
  return std::nullopt;
}

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

// Reads "RANK=6", "export RANK=6" and "declare -x RANK=\"6\"".
std::optional<int> VariableIn(std::string_view line, std::string_view name) {
  line = base::Trim(line);
  for (const std::string_view before : {"+ ", "export ", "declare -x "}) {
    if (line.starts_with(before)) line.remove_prefix(before.size());
  }
  if (!line.starts_with(name) || !line.substr(name.size()).starts_with('=')) return std::nullopt;
  std::string_view value = line.substr(name.size() + 1);
  if (value.size() > 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
    value = value.substr(1, value.size() - 2);
  }
  return RankOfDigits(value);
}

}  // namespace

std::optional<RankOfEnvironment> RankInEnvironment(const std::vector<std::string_view>& lines) {
  std::set<int> ranks, local_ranks, sizes, local_sizes;
  const auto note = [](std::set<int>& values, std::optional<int> value) {
    if (value) values.insert(*value);
  };
  for (const std::string_view line : lines) {
    note(ranks, VariableIn(line, "RANK"));
    note(local_ranks, VariableIn(line, "LOCAL_RANK"));
    note(sizes, VariableIn(line, "WORLD_SIZE"));
    note(local_sizes, VariableIn(line, "LOCAL_WORLD_SIZE"));
  }
  if (ranks.size() != 1 || local_ranks.size() != 1 || sizes.size() > 1) return std::nullopt;
  const int rank = *ranks.begin(), local_rank = *local_ranks.begin();
  if (local_rank > rank || (!sizes.empty() && rank >= *sizes.begin())) return std::nullopt;
  const bool is_last = !sizes.empty() && rank + 1 == *sizes.begin();
  const bool is_alone = is_last || local_sizes == std::set{1};
  return RankOfEnvironment{rank, local_rank == 0 && !is_alone};
}

std::optional<int> OwnRankIn(const std::vector<Line>& lines) {
  std::optional<int> own;
  for (const Line& line : lines) {
    for (const Naming& naming : kNamings) {
      const auto rank = RankBy(naming, line.text);
      if (rank && own && own != rank) return std::nullopt;
      if (rank) own = rank;
    }
  }
  for (const Line& line : lines) {
    if (own) break;
    own = RankInException(line.text);
  }
  return own;
}

}  // namespace answers
