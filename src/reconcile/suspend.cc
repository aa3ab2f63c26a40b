#include "reconcile/suspend.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "reconcile/autoscaler.h"
#include "reconcile/cleanup.h"
#include "reconcile/conditions.h"
#include "reconcile/gang.h"
#include "reconcile/writes.h"

namespace reconcile {

void Suspend(JobState& state) {
  const std::string message = fmt::format("PyTorchJob {} is suspended.", state.job.name);
  if (state.status.Is(kRunning)) {
    SetCondition(state.status, kRunning, false, kSuspendedReason, message, state.stamp);
  }
  DropCondition(state.status, kRestarting);
  if (SetCondition(state.status, kSuspended, true, kSuspendedReason, message, state.stamp)) {
    state.plan.events.push_back(Normal(kSuspendedReason, message));
    return;
  }
  // Not before its pods are deleted: Kueue then gives their quota to another job.
  for (auto& [type, status] : state.status.replica_statuses) status.active = 0;
  DeleteChildren(state, api::CleanPodPolicy::kAll);
  DeletePodGroup(state);
  DeleteAutoscaler(state);
}

bool ResumeIfSuspended(JobState& state) {
  if (!state.status.Is(kSuspended)) return false;
  const std::string message = fmt::format("PyTorchJob {} is resumed.", state.job.name);
  SetCondition(state.status, kSuspended, false, kResumedReason, message, state.stamp);
  const bool is_the_same_second = state.status.start_time == state.stamp;
  state.status.start_time = state.stamp + std::chrono::seconds(is_the_same_second ? 1 : 0);
  // Earlier reports and waits belong to the previous run.
  if (state.status.last_reconcile_time) state.status.last_reconcile_time = state.stamp;
  state.plan.events.push_back(Normal(kResumedReason, message));
  return true;
}

std::string RunOf(const api::JobStatus& status) {
  if (status.Find(kSuspended) == nullptr || !status.start_time) return "";
  return base::FormatRfc3339(*status.start_time);
}

bool IsOfAnEarlierRun(const api::JobStatus& status, const text::Json& pod) {
  return api::IsDeleting(pod) && api::Annotation(pod, api::kRunAnnotation) != RunOf(status);
}

}  // namespace reconcile
