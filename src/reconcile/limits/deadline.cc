#include "reconcile/limits/deadline.h"

#include <algorithm>

namespace reconcile {

std::optional<base::Time> After(base::Time start, int64_t seconds) {
  constexpr int64_t kMillennium = 1000LL * 366 * 24 * 3600;
  if (seconds > kMillennium) return std::nullopt;
  return start + std::chrono::seconds(seconds < -kMillennium ? -kMillennium : seconds);
}

std::optional<base::Time> LookAt(std::optional<base::Time> limit, std::optional<int64_t> seconds,
                                 base::Time now) {
  if (!limit || !seconds) return limit;
  return std::min(*limit, After(now, std::max<int64_t>(*seconds, 1)).value_or(*limit));
}

std::optional<base::Time> Deadline(const api::RunPolicy& policy, const api::JobStatus& status) {
  if (!policy.active_deadline_seconds || !status.start_time) return std::nullopt;
  return After(*status.start_time, *policy.active_deadline_seconds);
}

std::optional<base::Time> LookForDeadline(const api::RunPolicy& policy,
                                          const api::JobStatus& status, base::Time now) {
  return LookAt(Deadline(policy, status), policy.active_deadline_seconds, now);
}

}  // namespace reconcile
