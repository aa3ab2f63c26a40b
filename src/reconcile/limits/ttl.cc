#include "reconcile/limits/ttl.h"

#include "reconcile/conditions.h"
#include "reconcile/limits/deadline.h"

namespace reconcile {

std::optional<base::Time> Expiry(const api::RunPolicy& policy, const api::JobStatus& status) {
  if (!policy.ttl_seconds_after_finished || !status.IsFinished() || !status.completion_time) {
    return std::nullopt;
  }
  return After(*status.completion_time, *policy.ttl_seconds_after_finished);
}

std::optional<base::Time> LookForExpiry(const api::RunPolicy& policy, const api::JobStatus& status,
                                        base::Time now) {
  return LookAt(Expiry(policy, status), policy.ttl_seconds_after_finished, now);
}

void RepairCompletionTime(api::JobStatus& status) {
  if (status.completion_time) return;
  for (const std::string_view type : {kSucceeded, kFailed}) {
    if (!status.Is(type)) continue;
    status.completion_time = status.Find(type)->last_transition_time;
    return;
  }
}

}  // namespace reconcile
