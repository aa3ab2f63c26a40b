#include "arena/logs/rank_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "api/rank_label.h"
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

std::optional<int> RankOf(const RankMap& map, std::string_view instance,
                          const api::RankLabel& label) {
  return label.is_local ? map.RankAt(instance, label.number) : std::optional(label.number);
}

// Returns "[rank1]:text" of "[lr=0.1 seed=2] [rank1]:text".
std::string_view BehindTrial(std::string_view line) {
  const size_t end = line.starts_with('[') ? line.find("] [") : std::string_view::npos;
  return end == std::string_view::npos ? line : line.substr(end + 2);
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
  map.has_trials = !api::Annotation(job, api::kTrialsAnnotation).empty();
  return map;
}

std::optional<int> RankMap::RankAt(std::string_view instance, int local) const {
  const auto found = std::find(instances.begin(), instances.end(), instance);
  if (found == instances.end() || local >= processes) return std::nullopt;
  return static_cast<int>(found - instances.begin()) * processes + local;
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

int RankMap::CountOf(const Ranks& ranks) const {
  int count = 0;
  for (int rank = 0; rank < size(); ++rank) count += Contains(ranks, rank) ? 1 : 0;
  return count;
}

base::Status ChosenLines::Write(std::string_view text) {
  if (is_plain_) return out_.Write(text);
  std::string chosen;
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    rest_ += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    std::string line = Shown(std::exchange(rest_, ""));
    if (keeps_) {
      Keep(std::move(line));
    } else {
      chosen += line;
    }
  }
  rest_ += text;
  return chosen.empty() ? base::Status() : out_.Write(chosen);
}

void ChosenLines::Keep(std::string line) {
  if (line.empty()) return;
  kept_.push_back(std::move(line));
  if (kept_.size() > *keeps_) kept_.pop_front();
}

base::Status ChosenLines::Finish() {
  std::string line = Shown(std::exchange(rest_, ""));
  if (!keeps_) return line.empty() ? base::Status() : out_.Write(line);
  Keep(std::move(line));
  for (const std::string& kept : kept_) TRY(out_.Write(kept));
  return {};
}

std::string ChosenLines::Shown(std::string_view line) {
  const size_t stamp = has_timestamps_ ? std::min(line.find(' ') + 1, line.size()) : 0;
  std::string_view text = line.substr(stamp);
  if (const auto bar = TakeBar(choice_.map, instance_, text)) {
    if (on_bar_ && (choice_.ranks.empty() || Contains(choice_.ranks, bar->rank))) on_bar_(*bar);
    return "";
  }
  if (text.empty() || !choice_.Wants(instance_, text)) return "";
  const bool has_label = text.starts_with('[') && choice_.map.processes > 1;
  const auto rank = has_label ? RankOf(choice_.map, instance_, text) : std::nullopt;
  if (!rank) return std::string(line);
  if (on_bar_) on_bar_({*rank, ""});
  if (!out_.HasColour()) return std::string(line);
  const std::string_view label = line.substr(stamp, line.size() - stamp - text.size());
  return std::string(line.substr(0, stamp)) + ColouredRank(*rank, label) + std::string(text);
}

std::string ColouredRank(int rank, std::string_view label) {
  constexpr int kColours[] = {36, 33, 32, 35, 34, 31};
  return fmt::format("\x1b[{}m{}\x1b[0m", kColours[static_cast<size_t>(rank) % std::size(kColours)],
                     label);
}

std::optional<RankBar> TakeBar(const RankMap& map, std::string_view instance,
                               std::string_view line) {
  if (map.processes == 1) return std::nullopt;
  while (line.ends_with('\n')) line.remove_suffix(1);
  const auto label = api::ReadRankLabel(line);
  const auto rank = label && label->is_bar ? RankOf(map, instance, *label) : std::nullopt;
  return rank ? std::optional(RankBar{*rank, std::string(label->text)}) : std::nullopt;
}

std::optional<int> RankOf(const RankMap& map, std::string_view instance, std::string_view& line) {
  const auto label = api::ReadRankLabel(line);
  const auto rank = label && !label->is_bar ? RankOf(map, instance, *label) : std::nullopt;
  if (rank) {
    line = label->text;
    // PyTorch (since 2.2) marks tracebacks itself, behind the launcher's mark.
    const auto own = api::ReadRankLabel(line);
    if (own && !own->is_bar && !own->is_local && own->number == *rank) line = own->text;
  }
  return rank || map.processes > 1 ? rank : map.RankAt(instance, 0);
}

bool LineChoice::Wants(std::string_view instance, std::string_view line) const {
  if (line.find(grep) == std::string_view::npos) return false;
  if (ranks.empty()) return true;
  if (map.has_trials) line = BehindTrial(line);
  const auto rank = RankOf(map, instance, line);
  return rank && Contains(ranks, *rank);
}

}  // namespace arena
