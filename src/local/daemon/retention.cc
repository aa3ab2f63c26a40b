#include "local/daemon/retention.h"

#include <algorithm>

namespace local::daemon {

std::vector<FinishedJob> JobsToRemove(std::vector<FinishedJob> finished, const Keep& keep,
                                      base::Time now) {
  std::sort(finished.begin(), finished.end(),
            [](const FinishedJob& a, const FinishedJob& b) { return a.finished > b.finished; });
  std::vector<FinishedJob> removed;
  int64_t kept = 0;
  int64_t bytes = 0;
  for (FinishedJob& job : finished) {
    const base::Duration age = now - job.finished;
    const bool is_over = (keep.days != 0 && age > std::chrono::days(keep.days)) ||
                         (keep.jobs != 0 && kept >= keep.jobs) ||
                         (keep.bytes != 0 && bytes + job.bytes > keep.bytes);
    if (is_over && age > kLeastKept) {
      removed.push_back(std::move(job));
    } else {
      ++kept;
      bytes += job.bytes;
    }
  }
  std::reverse(removed.begin(), removed.end());
  return removed;
}

}  // namespace local::daemon
