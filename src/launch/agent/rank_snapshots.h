// Keeps the last answer of each rank's flight recorder: a dead rank can no longer be asked, and a
// straggler shows while the job runs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/stall/recorder.h"
#include "answers/stall/stall.h"
#include "answers/stall/straggler.h"
#include "base/clock.h"
#include "launch/failure/failure.h"
#include "process/event_loop.h"
#include "witness/recorder.h"

namespace launch {

// For one attempt of a job. Used by the loop's thread. Borrows loop and clock.
class RankSnapshots {
 public:
  RankSnapshots(process::EventLoop& loop, base::Clock& clock, std::string stacks_folder);
  ~RankSnapshots();

  // Call it once a second. Asks the ranks that have used CPU time since the last call, and calls
  // `then` from the loop once they have had time to answer. Idle ranks are not asked: it would wake
  // them up, and their last answer still holds.
  void Take(const std::vector<answers::RankLook>& looks, std::function<void()> then);

  // The rank that makes the others wait. Its stack has to be passed to `places` every few seconds
  // as long as it is the same rank.
  std::optional<answers::Straggler> Straggler() const { return watch_.straggler(); }
  // Whether it differs from the one of the last call; if it does, `places` begins anew.
  bool IsNew(const answers::Straggler& straggler);
  answers::Places& places() { return places_; }
  // "rank 1, 0.4 s before its end, had entered all_reduce #412 and finished #411"; "" for a rank
  // that never answered.
  std::string LastOf(const Failure& failure) const;

 private:
  process::EventLoop& loop_;
  base::Clock& clock_;
  const std::string folder_;
  std::map<int, answers::Trace> last_;  // by rank
  std::map<int, base::Time> answered_;  // time of the last answer, by rank
  std::map<int, uint64_t> ticks_;       // CPU time of each rank at the last look
  witness::RecorderTurns turns_;
  answers::StragglerWatch watch_;
  std::optional<int> straggler_;
  answers::Places places_;  // of the straggler
  process::EventLoop::TimerId timer_ = 0;
};

}  // namespace launch
