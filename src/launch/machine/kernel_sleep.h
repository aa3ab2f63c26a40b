// Workers that the kernel does not let go: uninterruptible sleep, state D.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace launch {

// TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT, in seconds as Python's float() reads them. Nothing
// when it is empty, malformed or not above 0: nobody looks then.
std::optional<base::Duration> KernelSleepLimit(std::string_view text);

// Remembers who was found asleep, and since when. Pure but for `state_of`; one thread.
class KernelSleepWatch {
 public:
  struct Stuck {
    int local_rank = 0;
    pid_t pid = 0;
    base::Duration time{};
  };
  using StateOf = std::function<char(pid_t)>;  // R, S, D ...; '?' of one that has gone
  using Instant = std::chrono::steady_clock::time_point;

  KernelSleepWatch(base::Duration limit, StateOf state_of)
      : limit_(limit), state_of_(std::move(state_of)) {}

  // Looks at the workers, by local rank (0: it has ended). The first that every look for the limit
  // has found asleep.
  std::optional<Stuck> Look(const std::vector<pid_t>& pids, Instant now);

  // Until the next look.
  base::Duration Interval() const;

 private:
  base::Duration limit_;
  StateOf state_of_;
  std::map<pid_t, Instant> asleep_since_;
};

}  // namespace launch
