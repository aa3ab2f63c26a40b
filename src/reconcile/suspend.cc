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

void Suspend(Pass& pass) {
  const std::string message = fmt::format("PyTorchJob {} is suspended.", pass.job.name);
  if (pass.status.Is(kRunning)) {
    SetCondition(pass.status, kRunning, false, kSuspendedReason, message, pass.stamp);
  }
  DropCondition(pass.status, kRestarting);
  for (auto& [type, status] : pass.status.replica_statuses) status.active = 0;
  if (SetCondition(pass.status, kSuspended, true, kSuspendedReason, message, pass.stamp)) {
    pass.plan.events.push_back(Normal(kSuspendedReason, message));
    return;
  }
  DeleteChildren(pass, api::CleanPodPolicy::kAll);
  DeletePodGroup(pass);
  DeleteAutoscaler(pass);
}

bool ResumeIfSuspended(Pass& pass) {
  if (!pass.status.Is(kSuspended)) return false;
  const std::string message = fmt::format("PyTorchJob {} is resumed.", pass.job.name);
  SetCondition(pass.status, kSuspended, false, kResumedReason, message, pass.stamp);
  const bool is_the_same_second = pass.status.start_time == pass.stamp;
  pass.status.start_time = pass.stamp + std::chrono::seconds(is_the_same_second ? 1 : 0);
  // What was told or waited for before is of the run before.
  if (pass.status.last_reconcile_time) pass.status.last_reconcile_time = pass.stamp;
  pass.plan.events.push_back(Normal(kResumedReason, message));
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
