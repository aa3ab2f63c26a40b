// What this program has seen of a job's ranks while it looked at them: for clusters that keep no
// history of ranks, as Kubernetes does not. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "arena/history/ranks.h"
#include "base/clock.h"
#include "runs/progress/rank_history.h"
#include "text/json.h"

namespace arena {

// How many looks at ranks are kept; then every second look is forgotten, and half as many are
// taken from then on.
inline constexpr size_t kMostSeenSamples = 200'000;

// One thread.
class SeenRanks {
 public:
  // `between`: how often Note is called.
  explicit SeenRanks(std::chrono::seconds between) : between_(between.count()) {}

  // Records, for each running rank, its CPU and memory, or an equal part of what its instance uses,
  // and how long it has been silent.
  void Note(base::Time now, const std::vector<RankState>& ranks);
  // docs/reference/json.md, "ranks over time", with `source`; null before the first look.
  text::Json Grid(int64_t columns) const;

 private:
  void ForgetHalf();

  int64_t between_;
  int64_t looked_ = 0;
  bool has_uses_ = false, has_shared_ = false;
  std::vector<runs::RankSample> samples_;
};

}  // namespace arena
