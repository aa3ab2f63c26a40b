#include "arena/logs/rank_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr int kMostRanks = 1'000'000;

std::optional<int> RankIn(std::string_view text) {
  const auto number = base::ParseInt(text);
  if (!number || *number < 0 || *number >= kMostRanks) return std::nullopt;
  return static_cast<int>(*number);
}

// Takes a coloured or plain "[NAME] " off; "" when there is none.
std::string_view TakeInstance(std::string_view& line) {
  const size_t open = line.find('[', line.starts_with('\x1b') ? 2 : 0);
  const size_t close = line.find(']');
  const size_t blank = line.find(' ');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      blank == std::string_view::npos || blank < close) {
    return "";
  }
  const std::string_view name = line.substr(open + 1, close - open - 1);
  line.remove_prefix(blank + 1);
  return name;
}

}  // namespace

base::Result<Ranks> ParseRanks(std::string_view text) {
  Ranks ranks;
  for (const std::string& part : base::Split(text, ',')) {
    const size_t dash = part.find('-');
    const auto from = RankIn(part.substr(0, dash));
    const auto to = dash == std::string::npos ? from : RankIn(part.substr(dash + 1));
    if (!from || !to || *from > *to) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--rank \"{}\" is invalid: give ranks like 1 or 0,4-7", text));
    }
    ranks.emplace_back(*from, *to);
  }
  return ranks;
}

bool Contains(const Ranks& ranks, int rank) {
  return std::any_of(ranks.begin(), ranks.end(), [rank](const std::pair<int, int>& range) {
    return range.first <= rank && rank <= range.second;
  });
}

RankMap RankMap::Of(const text::Json& job) {
  RankMap map;
  for (const std::string_view type : {api::kMaster, api::kWorker}) {
    const text::Json* spec = text::Find(job, {"spec", "pytorchReplicaSpecs", type});
    if (spec == nullptr) continue;
    const int64_t replicas = text::GetInt(*spec, {"replicas"}).value_or(1);
    for (int64_t i = 0; i < std::min<int64_t>(replicas, kMostRanks); ++i) {
      map.instances.push_back(api::ReplicaName(api::Name(job), type, static_cast<int>(i)));
    }
  }
  const auto processes = RankIn(text::GetString(job, {"spec", "nprocPerNode"}));
  if (processes && *processes > 0) map.processes = *processes;
  return map;
}

std::vector<std::string> RankMap::InstancesOf(const Ranks& ranks) const {
  std::vector<std::string> found;
  for (size_t node = 0; node < instances.size(); ++node) {
    const int first = static_cast<int>(node) * processes;
    const bool has_one =
        std::any_of(ranks.begin(), ranks.end(), [&](const std::pair<int, int>& range) {
          return range.first < first + processes && range.second >= first;
        });
    if (has_one) found.push_back(instances[node]);
  }
  return found;
}

base::Status ChosenLines::Write(std::string_view text) {
  std::string chosen;
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    rest_ += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (Wants(rest_)) chosen += rest_;
    rest_.clear();
  }
  rest_ += text;
  return chosen.empty() ? base::Status() : out_.Write(chosen);
}

base::Status ChosenLines::Finish() {
  const std::string line = std::exchange(rest_, "");
  return line.empty() || !Wants(line) ? base::Status() : out_.Write(line);
}

bool ChosenLines::Wants(std::string_view line) const {
  constexpr std::string_view kRank = "[rank";
  const std::string_view instance =
      choice_.instance.empty() ? TakeInstance(line) : std::string_view(choice_.instance);
  if (choice_.has_timestamps) line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
  if (line.find(choice_.grep) == std::string_view::npos) return false;
  if (choice_.ranks.empty()) return true;
  if (choice_.map.processes == 1) {
    const auto& instances = choice_.map.instances;
    const auto found = std::find(instances.begin(), instances.end(), instance);
    return found != instances.end() &&
           Contains(choice_.ranks, static_cast<int>(found - instances.begin()));
  }
  if (!line.starts_with(kRank)) return false;
  line.remove_prefix(kRank.size());
  const auto rank = RankIn(line.substr(0, line.find(']')));
  return rank && Contains(choice_.ranks, *rank);
}

}  // namespace arena
