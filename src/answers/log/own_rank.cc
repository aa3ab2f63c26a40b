#include "answers/log/own_rank.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "answers/has_any.h"
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

using Variables = std::map<std::string_view, std::set<std::string_view>>;

// Adds those of "RANK=6", "export RANK=6", "declare -x RANK=\"6\"", "env: RANK=6" and "RANK=6,
// WORLD_SIZE=8 ready", but not those of a command to try: "RANK=3 python train.py".
void AddVariables(std::string_view line, Variables& variables) {
  constexpr std::string_view kName = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  line = base::Trim(line);
  for (const std::string_view before : {"+ ", "export ", "declare -x ", "env: ", "environment: "}) {
    if (line.starts_with(before)) line.remove_prefix(before.size());
  }
  Variables found;
  while (!line.empty()) {
    const size_t sign = line.find_first_not_of(kName);
    if (sign == 0 || sign == line.npos || line[sign] != '=') {
      for (const std::string_view command : {"python", "torchrun", "bash", "sh ", "./", "uv run"}) {
        if (line.starts_with(command)) return;
      }
      break;
    }
    const std::string_view rest = line.substr(sign + 1);
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string_view value = rest.substr(0, end);
    if (value.ends_with(',') || value.ends_with(';')) value.remove_suffix(1);
    if (value.size() > 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
      value = value.substr(1, value.size() - 2);
    }
    found[line.substr(0, sign)].insert(value);
    line = base::Trim(rest.substr(end));
  }
  for (const auto& [name, values] : found) variables[name].insert(values.begin(), values.end());
}

// Adds what Accelerate's state and Lightning say of the process in words of their own.
void AddPrinted(std::string_view line, Variables& variables) {
  struct Words {
    std::string_view text, variable;
    bool is_whole_line = true;
  };
  static constexpr auto kPrinted = std::to_array<Words>({
      {"Process index: ", "RANK"},
      {"Local process index: ", "LOCAL_RANK"},
      {"Num processes: ", "WORLD_SIZE"},
      {"GLOBAL_RANK: ", "RANK", false},
  });
  line = base::Trim(line);
  for (const Words& words : kPrinted) {
    const size_t at = line.find(words.text);
    if (at == line.npos || (words.is_whole_line && at > 0)) continue;
    const std::string_view rest = line.substr(at + words.text.size());
    const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (words.is_whole_line && end != rest.size()) continue;
    if (!words.is_whole_line && !rest.substr(end).starts_with(", MEMBER: ")) continue;
    variables[words.variable].insert(rest.substr(0, end));
    const size_t size = words.is_whole_line ? rest.npos : rest.find('/');
    if (size != rest.npos) variables["WORLD_SIZE"].insert(rest.substr(size + 1));
  }
}

// Adds those of "rank=5 world=8" and "rank=5, world_size=8", anywhere in the line.
void AddPair(std::string_view line, Variables& variables) {
  constexpr std::string_view kRank = "rank=", kDigits = "0123456789";
  const size_t at = line.find(kRank);
  if (at == line.npos ||
      (at > 0 && std::string_view(" \t([{,;:").find(line[at - 1]) == line.npos)) {
    return;
  }
  const std::string_view rank = line.substr(at + kRank.size());
  const size_t end = std::min(rank.find_first_not_of(kDigits), rank.size());
  const size_t next = std::min(rank.find_first_not_of(" ,;", end), rank.size());
  for (const std::string_view key : {"world=", "world_size="}) {
    if (next == end || !rank.substr(next).starts_with(key)) continue;
    const std::string_view size = rank.substr(next + key.size());
    variables["RANK"].insert(rank.substr(0, end));
    variables["WORLD_SIZE"].insert(size.substr(0, size.find_first_not_of(kDigits)));
  }
}

std::set<int> NumbersOf(const Variables& variables, std::string_view name) {
  std::set<int> numbers;
  const auto values = variables.find(name);
  if (values == variables.end()) return numbers;
  for (const std::string_view value : values->second) {
    if (const auto number = RankOfDigits(value)) numbers.insert(*number);
  }
  return numbers;
}

// Whether this process may start others, whose ranks are not its own.
bool MayStartOthers(const Variables& variables, const std::vector<std::string_view>& lines) {
  static constexpr auto kCounts = std::to_array<std::string_view>(
      {"LOCAL_WORLD_SIZE", "NPROC_PER_NODE", "PET_NPROC_PER_NODE", "GPUS_PER_NODE"});
  for (const std::string_view name : kCounts) {
    const auto values = variables.find(name);
    if (values != variables.end() && values->second != std::set<std::string_view>{"1"}) return true;
  }
  for (const std::string_view name : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"}) {
    const auto values = variables.find(name);
    if (values == variables.end()) continue;
    for (const std::string_view value : values->second) {
      if (value.find(',') != value.npos) return true;
    }
  }
  static constexpr auto kLaunchers = std::to_array<std::string_view>(
      {"torchrun", "torch.distributed.run", "torch.distributed.launch", "torch/distributed/run.py",
       "torch/distributed/elastic", "torch.distributed.elastic", "accelerate launch", "deepspeed ",
       "mpirun ", "srun "});
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return HasAny(line, kLaunchers); });
}

}  // namespace

std::optional<RankOfEnvironment> RankInEnvironment(const std::vector<std::string_view>& lines) {
  Variables variables;
  for (const std::string_view line : lines) {
    AddVariables(line, variables);
    AddPrinted(line, variables);
    AddPair(line, variables);
  }
  const std::set<int> ranks = NumbersOf(variables, "RANK");
  const std::set<int> local_ranks = NumbersOf(variables, "LOCAL_RANK");
  const std::set<int> sizes = NumbersOf(variables, "WORLD_SIZE");
  if (ranks.size() != 1 || local_ranks.size() > 1 || sizes.size() > 1) return std::nullopt;
  const int rank = *ranks.begin();
  if (!sizes.empty() && rank >= *sizes.begin()) return std::nullopt;
  if (local_ranks.empty()) {
    if (sizes.empty() || MayStartOthers(variables, lines)) return std::nullopt;
    return RankOfEnvironment{rank, false, false, *sizes.begin()};
  }
  const int local_rank = *local_ranks.begin();
  if (local_rank > rank) return std::nullopt;
  const bool is_last = !sizes.empty() && rank + 1 == *sizes.begin();
  const bool is_alone = is_last || NumbersOf(variables, "LOCAL_WORLD_SIZE") == std::set{1};
  return RankOfEnvironment{rank, local_rank == 0 && !is_alone, true,
                           sizes.empty() ? 0 : *sizes.begin()};
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
