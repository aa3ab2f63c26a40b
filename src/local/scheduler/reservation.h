// What the head of the queue leaves to those behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace local::scheduler {

// GPUs that come back together, at the latest at `ends_by` (nothing: nobody knows).
struct Release {
  int64_t gpus = 0;
  std::optional<base::Time> ends_by;
};

struct Reservation {
  // What may be taken for any length of time: in whatever order the running ones end, the head
  // starts as early as it would have.
  int64_t spare = 0;
  // When the head is sure to start; nullopt when that hangs on somebody without a deadline.
  std::optional<base::Time> sure_start;
};

// For a head that needs `need` GPUs while `free` < need are free. Some subset of `releases` is
// enough for it, or it could never start.
Reservation Reserve(int64_t need, int64_t free, const std::vector<Release>& releases);

}  // namespace local::scheduler
