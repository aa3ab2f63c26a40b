#include "launch/machine/kernel_sleep.h"

#include <algorithm>

#include "launch/python/numbers.h"

namespace launch {
namespace {

constexpr double kLongestLimit = 1e9;
// Often enough to notice a worker that wakes up now and then.
constexpr int kLooksPerLimit = 50;
constexpr base::Duration kShortestInterval = std::chrono::milliseconds(100);
constexpr base::Duration kLongestInterval = std::chrono::seconds(1);

}  // namespace

std::optional<base::Duration> KernelSleepLimit(std::string_view text) {
  const auto seconds = ParsePythonFloat(text);
  if (!seconds || !(*seconds > 0)) return std::nullopt;
  return std::chrono::duration_cast<base::Duration>(
      std::chrono::duration<double>(std::min(*seconds, kLongestLimit)));
}

std::optional<KernelSleepWatch::Stuck> KernelSleepWatch::Look(const std::vector<pid_t>& pids,
                                                              Instant now) {
  std::optional<Stuck> stuck;
  for (size_t i = 0; i < pids.size(); ++i) {
    if (pids[i] == 0) continue;
    if (state_of_(pids[i]) != 'D') {
      asleep_since_.erase(pids[i]);
      continue;
    }
    const Instant since = asleep_since_.try_emplace(pids[i], now).first->second;
    const auto time = std::chrono::duration_cast<base::Duration>(now - since);
    if (!stuck && time >= limit_) stuck = Stuck{static_cast<int>(i), pids[i], time};
  }
  return stuck;
}

base::Duration KernelSleepWatch::Interval() const {
  return std::clamp(limit_ / kLooksPerLimit, kShortestInterval, kLongestInterval);
}

}  // namespace launch
