#include "arena/logs/restart_news.h"

#include <utility>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"

namespace arena {

std::vector<Restart> RestartNews::See(const std::vector<const text::Json*>& pods) {
  std::vector<Restart> news;
  for (const text::Json* const pod : pods) {
    for (const api::ContainerStatus& status : api::ContainerStatuses(*pod)) {
      if (!status.last_terminated) continue;
      const int64_t starts = status.restart_count + (status.is_waiting ? 1 : 0);
      int64_t& seen = seen_[std::string(api::Uid(*pod)) + std::string(status.name)];
      if (std::exchange(seen, starts) >= starts) continue;
      // Kubernetes rounds times down to seconds.
      const auto& ended = status.last_terminated->finished;
      if (ended && *ended + std::chrono::seconds(1) <= since_) continue;
      news.push_back({api::DescribeRestart(*pod, status, starts), status.is_waiting});
    }
  }
  return news;
}

}  // namespace arena
