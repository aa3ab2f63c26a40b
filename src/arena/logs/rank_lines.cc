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
  if (has_timestamps_) line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
  return choice_.Wants(instance_, line);
}

std::optional<int> TakeRank(std::string_view& line) {
  constexpr std::string_view kRank = "[rank";
  if (!line.starts_with(kRank)) return std::nullopt;
  const size_t close = line.find(']');
  if (close == std::string_view::npos) return std::nullopt;
  const auto rank = RankIn(line.substr(kRank.size(), close - kRank.size()));
  if (!rank) return std::nullopt;
  line.remove_prefix(close + 1);
  if (line.starts_with(':')) line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return rank;
}

std::optional<int> RankOf(const RankMap& map, std::string_view instance, std::string_view& line) {
  if (const auto named = TakeRank(line)) return named;
  if (map.processes > 1) return std::nullopt;
  const auto found = std::find(map.instances.begin(), map.instances.end(), instance);
  if (found == map.instances.end()) return std::nullopt;
  return static_cast<int>(found - map.instances.begin());
}

bool LineChoice::Wants(std::string_view instance, std::string_view line) const {
  if (line.find(grep) == std::string_view::npos) return false;
  if (ranks.empty()) return true;
  const auto rank = RankOf(map, instance, line);
  return rank && Contains(ranks, *rank);
}

}  // namespace arena
