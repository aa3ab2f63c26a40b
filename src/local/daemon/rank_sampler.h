// Looks every few seconds at what the ranks of one job do: at their stacks, and at their flight
// recorders. So it knows on what the job spends its time, and whether one rank is always late.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/stall/straggler.h"
#include "base/clock.h"
#include "runs/progress/wait_span.h"
#include "witness/recorder.h"
#include "witness/stacks.h"

namespace local::daemon {

struct SampledRank {
  int rank = 0;
  pid_t pid = 0;
  std::string folder;  // witness::FolderOfPod
};

// How long the time is for which one look stands, in a job of this age: so a job of any length
// makes a few thousand of them.
std::chrono::seconds SamplePeriod(std::chrono::seconds age);

// One thread. Never blocks for longer than it takes to read what the ranks have written.
class RankSampler {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  explicit RankSampler(Instant now) : began_(now) {}

  // Call it once a second with the ranks that run here. Returns what the job was in for the time
  // of one look, when a look is over and has found it in a wait.
  std::optional<runs::WaitSpan> See(Instant now, base::Time wall,
                                    const std::vector<SampledRank>& ranks);

  struct Late {
    base::Time since{};
    std::string text;  // "rank 1 is late at collectives: ...; it is mostly at loader.py:31"
  };
  // A rank that makes the others wait. Its text changes at most once a minute.
  const std::optional<Late>& late() const { return late_; }

 private:
  struct Look {
    base::Time wall{};
    std::chrono::seconds period{};
    std::map<pid_t, int> ranks;
    std::vector<witness::Question> stacks;
    std::vector<std::pair<std::string, witness::RecorderQuestion>> recorders;  // by folder
  };
  void Ask(base::Time wall, std::chrono::seconds period, const std::vector<SampledRank>& ranks);
  std::optional<runs::WaitSpan> Read();
  void JudgeLate(Instant now, base::Time wall);

  const Instant began_;
  std::optional<Instant> asked_;
  std::optional<Look> look_;                             // whose answers are not read yet
  std::map<std::string, witness::RecorderTurns> turns_;  // by folder
  answers::StragglerWatch watch_;
  std::map<int, answers::Places> places_;
  std::optional<Late> late_;
  int late_rank_ = -1;
  Instant told_{};  // when the text was made
};

}  // namespace local::daemon
