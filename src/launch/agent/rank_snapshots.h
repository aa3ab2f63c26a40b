// What each rank's flight recorder said last: of a rank that has died nobody can ask any more, and
// a rank that is late each time is seen while the job goes on.
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

namespace launch {

// Of one attempt of a job. One thread, the loop's. Borrows loop and clock.
class RankSnapshots {
 public:
  RankSnapshots(process::EventLoop& loop, base::Clock& clock, std::string stacks_folder);
  ~RankSnapshots();

  // Once a second. Asks ranks that have used a processor since, and calls `then` from the loop a
  // moment later, when they have answered. Others are left in peace: to be asked would wake them
  // up, and what they said last is true still.
  void Take(const std::vector<answers::RankLook>& looks, std::function<void()> then);

  std::optional<answers::Straggler> Straggler() const;
  // Whether it is another one than at the last call.
  bool IsNew(const answers::Straggler& straggler);
  // "rank 1, 0.4 s before its end, had entered all_reduce #412 and finished #411"; "" of a rank
  // that has never answered.
  std::string LastOf(const Failure& failure) const;

 private:
  process::EventLoop& loop_;
  base::Clock& clock_;
  const std::string folder_;
  std::map<int, answers::Trace> last_;  // by rank
  std::map<int, base::Time> answered_;  // when, by rank
  std::map<int, uint64_t> ticks_;       // processors' time of each rank at the last look
  std::optional<int> said_straggler_;
  process::EventLoop::TimerId timer_ = 0;
};

}  // namespace launch
