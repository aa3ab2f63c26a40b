// Samples what the ranks of one job do: their stacks every few seconds, and their flight recorders
// every second. So it knows how the job spends its time, and whether one rank is always late.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/stall/straggler.h"
#include "base/clock.h"
#include "local/daemon/ranks/rank_snapshots.h"
#include "runs/progress/wait_span.h"
#include "witness/stacks.h"

namespace local::daemon {

// The time for which one sample stands in a job of this age, so that a job of any length has a few
// thousand of them.
std::chrono::seconds SamplePeriod(std::chrono::seconds age);

// One thread. Blocks for the ten milliseconds of a witness::Question when it takes a sample.
class RankSampler {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  explicit RankSampler(Instant now) : began_(now) {}

  // Call it once a second with the ranks that run here. When a sample is complete and found the job
  // in a wait, returns that wait with the time for which the sample stands.
  std::optional<runs::WaitSpan> See(Instant now, base::Time wall,
                                    const std::vector<SampledRank>& ranks);

  struct Late {
    base::Time since{};
    std::string text;  // "rank 1 is late at collectives: ...; it is mostly at loader.py:31"
  };
  // A rank that makes the others wait. Its text changes at most once a minute.
  const std::optional<Late>& late() const { return late_; }
  std::vector<api::LastCollective> LastCollectives() const { return snapshots_.Last(); }

 private:
  struct Look {
    base::Time wall{};
    std::chrono::seconds period{};
    std::map<pid_t, int> ranks;
    std::optional<witness::Question> stacks;
  };
  void Ask(base::Time wall, std::chrono::seconds period, const std::vector<SampledRank>& ranks);
  std::optional<runs::WaitSpan> Read();
  void JudgeLate(Instant now, base::Time wall);

  const Instant began_;
  std::optional<Instant> asked_;
  std::optional<Look> look_;  // whose answers have not been read yet
  RankSnapshots snapshots_;
  answers::StragglerWatch watch_;
  std::map<int, answers::Places> places_;
  std::optional<Late> late_;
  int late_rank_ = -1;
  Instant text_made_{};  // when the text was made
};

}  // namespace local::daemon
