// Finds workers that are stuck in the kernel: uninterruptible sleep, state D.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace launch {

// TORCHELASTIC_UNINTERRUPTIBLE_STATE_TIMEOUT, in seconds as Python's float() reads them. Nullopt if
// it is empty, malformed or not above 0; nothing is watched then.
std::optional<base::Duration> KernelSleepLimit(std::string_view text);

// Remembers which workers sleep, and since when. Pure except for `state_of`; one thread.
class KernelSleepWatch {
 public:
  struct Stuck {
    int local_rank = 0;
    pid_t pid = 0;
    base::Duration time{};
  };
  using StateOf = std::function<char(pid_t)>;  // R, S, D ...; '?' if it has gone
  using Instant = std::chrono::steady_clock::time_point;

  KernelSleepWatch(base::Duration limit, StateOf state_of)
      : limit_(limit), state_of_(std::move(state_of)) {}

  // Looks at the workers by local rank (pid 0: it has ended). Returns the first that has been
  // asleep at every look for as long as the limit.
  std::optional<Stuck> Look(const std::vector<pid_t>& pids, Instant now);

  // The time until the next look.
  base::Duration Interval() const;

 private:
  base::Duration limit_;
  StateOf state_of_;
  std::map<pid_t, Instant> asleep_since_;
};

}  // namespace launch
