#include "reconcile/restart.h"

#include <fmt/format.h>

#include "api/pod.h"
#include "reconcile/conditions.h"
#include "reconcile/restart_scope.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

constexpr int kFirstRetryableExitCode = 128;

// How many of the pods that go have failed: with a scope, others go with them.
int ReplaceFailedPods(Pass& pass, const Replicas& replicas) {
  if (replicas.spec == nullptr) return 0;
  const bool has_scope = ScopeOf(pass.job) != RestartScope::kUnset;
  int failed = 0;
  for (const Pod& pod : replicas.pods) {
    if (!replicas.IsWanted(pod) || pod.is_terminating) continue;
    const bool has_failed = IsToBeReplaced(*replicas.spec, pod);
    if (has_scope ? !IsOutdated(pass, replicas, pod) : !has_failed) continue;
    pass.plan.writes.push_back(DeleteChild(api::kPods, pod));
    if (!has_failed) continue;
    if (pod.is_lost) {
      pass.plan.events.push_back(Warning(
          "NodeLost",
          fmt::format("Pod {} is lost with its node {}", pod.name, api::NodeName(*pod.object))));
    }
    pass.plan.counters.push_back(Counter::kRestarted);
    ++failed;
  }
  return failed;
}

}  // namespace

bool HasNoRestarts(const api::PyTorchJob& job) {
  return job.run_policy.backoff_limit && *job.run_policy.backoff_limit < 1;
}

std::string PodRestartPolicy(const api::PyTorchJob& job, const api::ReplicaSpec& spec) {
  const api::RestartPolicy policy = spec.Policy();
  if (policy == api::RestartPolicy::kExitCode) return "Never";
  if (policy == api::RestartPolicy::kOnFailure && HasNoRestarts(job)) return "Never";
  return spec.restart_policy.empty() ? "OnFailure" : spec.restart_policy;
}

bool IsRetryable(std::optional<int> exit_code) {
  return !exit_code || *exit_code >= kFirstRetryableExitCode;
}

bool IsToBeReplaced(const api::ReplicaSpec& spec, const Pod& pod) {
  if (pod.phase != Phase::kFailed) return false;
  switch (spec.Policy()) {
    case api::RestartPolicy::kAlways:
    case api::RestartPolicy::kOnFailure:
      return true;
    case api::RestartPolicy::kExitCode:
      return IsRetryable(pod.ExitCode());
    case api::RestartPolicy::kNever:
    case api::RestartPolicy::kUnknown:
      return false;
  }
  return false;
}

bool ReplaceFailedPods(Pass& pass) {
  bool any = false;
  for (const Replicas* const replicas : pass.Types()) {
    const int replaced = ReplaceFailedPods(pass, *replicas);
    if (replaced == 0) continue;
    any = true;
    const std::string first = fmt::format("job {} is restarting because {} replica(s) failed.",
                                          pass.job.name, replicas->type);
    SetCondition(pass.status, kRestarting, true, kRestartingReason, first, pass.stamp);
    pass.plan.events.push_back(Warning(kRestartingReason, first));
    pass.plan.events.push_back(
        Warning(kRestartingReason,
                fmt::format("PyTorchJob {} is restarting because {} {} replica(s) failed.",
                            pass.job.name, replaced, replicas->type)));
  }
  return any;
}

}  // namespace reconcile
