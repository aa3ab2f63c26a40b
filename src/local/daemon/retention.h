// Decides which finished jobs are no longer kept (local.keep_*). Pure.
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
  int64_t bytes = 0;  // of its folder and its pods' folders
};

// Somebody may be reading its logs: a job that finished more recently is never removed.
inline constexpr std::chrono::hours kLeastKept{1};

// The jobs to remove, the oldest first.
std::vector<FinishedJob> JobsToRemove(std::vector<FinishedJob> finished, const Keep& keep,
                                      base::Time now);

}  // namespace local::daemon
