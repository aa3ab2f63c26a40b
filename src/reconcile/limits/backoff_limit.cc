#include "reconcile/limits/backoff_limit.h"

#include <algorithm>
#include <cstdint>

#include "api/pod.h"
#include "reconcile/restart_scope.h"

namespace reconcile {
namespace {

// The restart that a container waits for counts already: if it exceeds the limit, the job need not
// wait for it.
int64_t RestartsToCome(const text::Json& pod) {
  const auto statuses = api::ContainerStatuses(pod);
  return std::count_if(statuses.begin(), statuses.end(), [](const api::ContainerStatus& status) {
    return status.waiting_reason == "CrashLoopBackOff";
  });
}

bool CountsRestarts(const Replicas& replicas) {
  if (replicas.spec == nullptr) return false;
  switch (replicas.spec->Policy()) {
    case api::RestartPolicy::kAlways:
    case api::RestartPolicy::kOnFailure:
    case api::RestartPolicy::kExitCode:
      return true;
    case api::RestartPolicy::kNever:
    case api::RestartPolicy::kUnknown:
      return false;
  }
  return false;
}

int64_t RestartsOfRunningPods(const JobState& state) {
  int64_t restarts = 0;
  for (const Replicas* const replicas : state.Types()) {
    if (!CountsRestarts(*replicas)) continue;
    for (const Pod& pod : replicas->pods) {
      if (pod.phase != Phase::kRunning || pod.is_terminating) continue;
      restarts += api::RestartCount(*pod.object) + RestartsToCome(*pod.object);
    }
  }
  return restarts;
}

bool HasFailure(const JobState& state) {
  int64_t failed = 0;
  int64_t active = 0;
  int64_t wanted = 0;
  for (const Replicas* const replicas : state.Types()) {
    wanted += replicas->Wanted();
    for (const Pod& pod : replicas->pods) {
      if (!replicas->IsWanted(pod) || pod.is_terminating) continue;
      if (IsOutdated(state.job, *replicas, pod)) continue;
      if (pod.phase == Phase::kFailed && CountsTowardsLimit(state.job, pod)) ++failed;
      if (pod.phase == Phase::kRunning || pod.phase == Phase::kPending) ++active;
    }
  }
  return failed > 0 && active != wanted;
}

}  // namespace

bool HasReachedBackoffLimit(const JobState& state) {
  const auto& limit = state.job.run_policy.backoff_limit;
  if (!limit) return false;
  if (HasSpentRestarts(state)) return true;
  if (*limit < 1 && HasFailure(state)) return true;
  const int64_t restarts = RestartsOfRunningPods(state);
  return *limit == 0 ? restarts > 0 : restarts >= *limit;
}

}  // namespace reconcile
