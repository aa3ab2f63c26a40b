#include "reconcile/restart.h"

#include <fmt/format.h>

#include "api/pod.h"
#include "reconcile/conditions.h"
#include "reconcile/restart_scope.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

constexpr int kFirstRetryableExitCode = 128;

// "pod j-worker-0 was evicted (Eviction API: evicting)"
std::string Describe(const Pod& pod) {
  if (pod.is_lost) {
    return fmt::format("pod {} is lost with its node {}", pod.name, api::NodeName(*pod.object));
  }
  const auto disruption = api::DisruptionOf(*pod.object);
  return fmt::format("pod {} {}", pod.name,
                     disruption ? api::DescribeDisruption(*disruption) : "was disrupted");
}

Event Disrupted(const Pod& pod) {
  std::string message = Describe(pod);
  message[0] = 'P';
  return Warning(pod.is_lost ? "NodeLost" : "Disrupted", std::move(message));
}

// Handles pods that something other than their programs ends: pods that are already being deleted
// need nothing more. Returns whether there is such a pod.
bool RecordDisruptions(JobState& state, const Replicas& replicas) {
  if (replicas.spec == nullptr) return false;
  bool any = false;
  for (const Pod& pod : replicas.pods) {
    if (!replicas.IsWanted(pod) || !pod.is_disrupted) continue;
    if (!CallsForRestart(*replicas.spec, pod)) continue;
    any = true;
    const std::string message =
        fmt::format("job {} is restarting because {}.", state.job.name, Describe(pod));
    const bool is_new =
        SetCondition(state.status, kRestarting, true, kRestartingReason, message, state.stamp);
    if (is_new) state.plan.events.push_back(Warning(kRestartingReason, message));
    if (is_new && ScopeOf(state.job) == RestartScope::kUnset) {
      state.plan.events.push_back(Disrupted(pod));
    }
  }
  return any;
}

// How many of the deleted pods have failed: with a scope, others are deleted with them.
int ReplaceFailedPods(JobState& state, const Replicas& replicas) {
  if (replicas.spec == nullptr) return 0;
  const bool has_scope = ScopeOf(state.job) != RestartScope::kUnset;
  int failed = 0;
  for (const Pod& pod : replicas.pods) {
    if (!replicas.IsWanted(pod) || pod.is_terminating) continue;
    const bool has_failed = IsToBeReplaced(*replicas.spec, pod);
    if (has_scope ? !IsOutdated(state.job, replicas, pod) : !has_failed) continue;
    state.plan.writes.push_back(DeleteChild(api::kPods, pod));
    if (!has_failed) continue;
    state.plan.counters.push_back(Counter::kRestarted);
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

bool IsRestartedAtAll(const api::ReplicaSpec& spec) {
  const api::RestartPolicy policy = spec.Policy();
  return policy != api::RestartPolicy::kNever && policy != api::RestartPolicy::kUnknown;
}

bool IsToBeReplaced(const api::ReplicaSpec& spec, const Pod& pod) {
  if (pod.phase != Phase::kFailed || !IsRestartedAtAll(spec)) return false;
  return spec.Policy() != api::RestartPolicy::kExitCode || pod.is_disrupted ||
         IsRetryable(pod.ExitCode());
}

void AnnounceDisruptions(JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    for (const Pod& pod : replicas->pods) {
      if (!replicas->IsWanted(pod) || !pod.is_disrupted) continue;
      if (pod.is_left_over || IsOutdated(state.job, *replicas, pod)) continue;
      state.plan.events.push_back(Disrupted(pod));
    }
  }
}

bool ReplaceFailedPods(JobState& state) {
  bool any = false;
  for (const Replicas* const replicas : state.Types()) {
    any |= RecordDisruptions(state, *replicas);
    const int replaced = ReplaceFailedPods(state, *replicas);
    if (replaced == 0) continue;
    any = true;
    const std::string first = fmt::format("job {} is restarting because {} replica(s) failed.",
                                          state.job.name, replicas->type);
    SetCondition(state.status, kRestarting, true, kRestartingReason, first, state.stamp);
    state.plan.events.push_back(Warning(kRestartingReason, first));
    state.plan.events.push_back(
        Warning(kRestartingReason,
                fmt::format("PyTorchJob {} is restarting because {} {} replica(s) failed.",
                            state.job.name, replaced, replicas->type)));
  }
  return any;
}

}  // namespace reconcile
