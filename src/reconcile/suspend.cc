#include "reconcile/suspend.h"

#include <fmt/format.h>

#include "reconcile/autoscaler.h"
#include "reconcile/cleanup.h"
#include "reconcile/conditions.h"
#include "reconcile/gang.h"
#include "reconcile/writes.h"

namespace reconcile {

void Suspend(Pass& pass) {
  DeleteChildren(pass, api::CleanPodPolicy::kAll);
  DeletePodGroup(pass);
  DeleteAutoscaler(pass);
  for (auto& [type, status] : pass.status.replica_statuses) status.active = 0;
  const std::string message = fmt::format("PyTorchJob {} is suspended.", pass.job.name);
  if (pass.status.Is(kRunning)) {
    SetCondition(pass.status, kRunning, false, kSuspendedReason, message, pass.stamp);
  }
  DropCondition(pass.status, kRestarting);
  if (SetCondition(pass.status, kSuspended, true, kSuspendedReason, message, pass.stamp)) {
    pass.plan.events.push_back(Normal(kSuspendedReason, message));
  }
}

void ResumeIfSuspended(Pass& pass) {
  if (!pass.status.Is(kSuspended)) return;
  const std::string message = fmt::format("PyTorchJob {} is resumed.", pass.job.name);
  SetCondition(pass.status, kSuspended, false, kResumedReason, message, pass.stamp);
  pass.status.start_time = pass.stamp;
  pass.plan.events.push_back(Normal(kResumedReason, message));
}

}  // namespace reconcile
