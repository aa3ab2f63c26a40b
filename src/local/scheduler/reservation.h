// What the head of the queue leaves to the gangs behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace local::scheduler {

// GPUs that are released together, at `ends_by` at the latest (nullopt: unknown).
struct Release {
  int64_t gpus = 0;
  std::optional<base::Time> ends_by;
};

struct Reservation {
  // How many GPUs may be taken for any length of time without delaying the head, in whatever order
  // the running gangs end.
  int64_t spare = 0;
  // When the head is certain to start; nullopt when that depends on a gang without a deadline.
  std::optional<base::Time> sure_start;
};

// For a head that needs `need` GPUs while only `free` < need are free. All `releases` together must
// be enough for it.
Reservation Reserve(int64_t need, int64_t free, const std::vector<Release>& releases);

}  // namespace local::scheduler
