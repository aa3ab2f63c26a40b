#include "arena/history/seen_ranks.h"

#include <map>
#include <string>

namespace arena {

void SeenRanks::Note(base::Time now, const std::vector<RankState>& ranks) {
  const int64_t at = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  // If the clock has gone back, nothing is noted until it has caught up: a grid needs times in
  // order.
  if (at < looked_ + between_) return;
  looked_ = at;
  std::map<std::string, int64_t> of_instance;
  for (const RankState& rank : ranks) ++of_instance[rank.instance];
  for (const RankState& rank : ranks) {
    if (rank.state != "Running") continue;
    runs::RankSample sample;
    sample.at = at;
    sample.rank = rank.rank;
    if (rank.instance_use) {
      const int64_t sharers = of_instance[rank.instance];
      has_uses_ = true;
      has_shared_ = has_shared_ || sharers > 1;
      sample.cpu = static_cast<int64_t>(100 * rank.instance_use->cpu) / sharers;
      sample.memory = (rank.instance_use->memory >> 20) / sharers;
    }
    if (rank.quiet) {
      sample.quiet = std::chrono::duration_cast<std::chrono::seconds>(*rank.quiet).count();
    }
    samples_.push_back(sample);
  }
  if (samples_.size() > kMostSeenSamples) ForgetHalf();
}

void SeenRanks::ForgetHalf() {
  std::vector<runs::RankSample> kept;
  bool is_kept = false;
  int64_t at = 0;
  for (const runs::RankSample& sample : samples_) {
    if (sample.at != at) is_kept = !is_kept;
    at = sample.at;
    if (is_kept) kept.push_back(sample);
  }
  samples_ = std::move(kept);
  between_ *= 2;
}

text::Json SeenRanks::Grid(int64_t columns) const {
  if (samples_.empty()) return nullptr;
  text::Json grid = runs::RankGrid(samples_, columns, between_);
  std::string source = "seen from this machine while it looked: silence in the logs";
  if (has_uses_) source += ", CPU and memory in metrics.k8s.io";
  if (has_shared_) source += " (of an instance, divided by its ranks)";
  grid.as_object()["source"] = source;
  return grid;
}

}  // namespace arena
