// Which finished jobs are no longer kept (local.keep_*). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "local/client/config.h"

namespace local::daemon {

struct FinishedJob {
  std::string namespace_name;
  std::string name;
  std::string uid;
  base::Time finished{};
  int64_t bytes = 0;  // of its pods' folders and its own
};

// Somebody may be reading: nothing that finished more recently is removed, whatever it takes.
inline constexpr std::chrono::hours kLeastKept{1};

// Those to remove, the oldest first.
std::vector<FinishedJob> JobsToRemove(std::vector<FinishedJob> finished, const Keep& keep,
                                      base::Time now);

}  // namespace local::daemon
