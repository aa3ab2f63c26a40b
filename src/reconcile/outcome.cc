#include "reconcile/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/job/failure_cause.h"
#include "api/pod.h"
#include "reconcile/conditions.h"
#include "reconcile/pods.h"
#include "reconcile/restart.h"
#include "reconcile/restart_scope.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

// v1 names the job's namespace in some messages of jobs without a master.
std::string LongName(const JobState& state) {
  return fmt::format("{}/{}", state.job.namespace_name, state.job.name);
}

// A disrupted pod has not completed even if it reports so: programs that save their state when they
// are told to stop exit with 0.
bool CountsAsFailed(const Pod& pod) {
  return pod.phase == Phase::kFailed || (pod.phase == Phase::kRunning && pod.is_terminating) ||
         (pod.phase == Phase::kSucceeded && pod.is_disrupted);
}

// A pod that will be restarted together with others does not fail the job by its own end.
bool Matters(const JobState& state, const Replicas& replicas, const Pod& pod) {
  return replicas.IsWanted(pod) && !pod.is_left_over && !IsOutdated(state.job, replicas, pod);
}

// Whether everything that `failed` reports was caused by an earlier failure that leads to a
// restart, and `failed` is restarted with it.
bool FollowsARestart(const JobState& state, const Replicas& of_failed) {
  const RestartScope scope = ScopeOf(state.job);
  if (scope != RestartScope::kJob && scope != RestartScope::kReplica) return false;
  std::vector<const text::Json*> pods;
  for (const Replicas* const replicas : state.Types()) {
    if (scope == RestartScope::kReplica && replicas != &of_failed) continue;
    for (const Pod& pod : replicas->pods) {
      if (Matters(state, *replicas, pod)) pods.push_back(pod.object);
    }
  }
  const text::Json* const first = api::FindFirstFailure(pods, state.HasMaster()).pod;
  for (const Replicas* const replicas : state.Types()) {
    for (const Pod& pod : replicas->pods) {
      if (pod.object == first) return CallsForRestart(*replicas->spec, pod);
    }
  }
  return false;
}

std::optional<Failure> FindFailure(const JobState& state, const Replicas& replicas) {
  if (replicas.spec == nullptr) return std::nullopt;
  const api::RestartPolicy policy = replicas.spec->Policy();
  if (policy == api::RestartPolicy::kExitCode) {
    for (const Pod& pod : replicas.pods) {
      if (!Matters(state, replicas, pod) || pod.is_terminating) continue;
      if (pod.phase != Phase::kFailed || IsToBeReplaced(*replicas.spec, pod)) continue;
      if (FollowsARestart(state, replicas)) return std::nullopt;
      return Failure{true, fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                                       state.job.name, replicas.type)};
    }
    return std::nullopt;
  }
  if (policy != api::RestartPolicy::kNever && policy != api::RestartPolicy::kUnknown) {
    return std::nullopt;
  }
  const auto failed = std::count_if(
      replicas.pods.begin(), replicas.pods.end(),
      [&](const Pod& pod) { return Matters(state, replicas, pod) && CountsAsFailed(pod); });
  if (failed == 0) return std::nullopt;
  return Failure{false, fmt::format("PyTorchJob {} is failed because {} {} replica(s) failed.",
                                    state.job.name, failed, replicas.type)};
}

// "pod j-worker-0 is lost with its node n1"
std::string FirstLoss(const JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    for (const Pod& pod : replicas->pods) {
      if (!pod.is_lost) continue;
      return fmt::format("pod {} is lost with its node {}", pod.name, api::NodeName(*pod.object));
    }
  }
  return "";
}

}  // namespace

Tally Count(const Replicas& replicas) {
  Tally tally;
  for (const Pod& pod : replicas.pods) {
    if (!replicas.IsWanted(pod) || pod.is_left_over) continue;
    if (CountsAsFailed(pod)) {
      ++tally.failed;
    } else if (pod.phase == Phase::kRunning) {
      ++tally.active;
    } else if (HasSucceeded(pod)) {
      ++tally.succeeded;
    }
  }
  return tally;
}

bool HasSucceeded(const Pod& pod) {
  return pod.phase == Phase::kSucceeded && !pod.is_left_over && !pod.is_disrupted;
}

bool HasSucceeded(const JobState& state) {
  const Replicas& deciding = state.HasMaster() ? state.children.master : state.children.worker;
  const int32_t wanted = deciding.Wanted();
  if (wanted <= 0) return false;
  const int32_t succeeded = Count(deciding).succeeded;
  const bool one_is_enough = !state.HasMaster() && state.job.elastic_policy.has_value();
  return succeeded >= (one_is_enough ? 1 : wanted);
}

bool IsRunning(const JobState& state) {
  return Count(state.HasMaster() ? state.children.master : state.children.worker).active > 0;
}

std::optional<Failure> FindFailure(const JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    if (auto failure = FindFailure(state, *replicas)) {
      AddFirstFailure(state, " ", *failure);
      return failure;
    }
  }
  return std::nullopt;
}

void AddFirstFailure(const JobState& state, std::string_view before, Failure& failure) {
  if (!state.options.reports_first_failure) return;
  std::vector<const text::Json*> pods;
  for (const Replicas* const replicas : state.Types()) {
    for (const Pod& pod : replicas->pods) {
      if (Matters(state, *replicas, pod)) pods.push_back(pod.object);
    }
  }
  api::FirstFailure first = api::FindFirstFailure(pods, state.HasMaster());
  if (first.text.empty()) first.text = FirstLoss(state);
  if (first.text.empty() || first.is_code_alone) return;
  failure.message.append(before).append(first.text);
  failure.last_lines = std::move(first.last_lines);
}

void RecordCounts(JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    const std::string type(replicas->type);
    if (replicas->spec == nullptr) {
      state.status.replica_statuses.erase(type);
      continue;
    }
    const Tally tally = Count(*replicas);
    api::ReplicaStatus& status = state.status.replica_statuses[type];
    status.active = tally.active;
    status.succeeded = tally.succeeded;
    status.failed = tally.failed;
    if (status.selector.empty()) status.selector = Selector(state.job, replicas->label);
  }
  if (!state.status.start_time) state.status.start_time = state.stamp;
}

void RecordRunning(JobState& state) {
  if (!IsRunning(state)) return;
  SetCondition(state.status, kRunning, true, kRunningReason,
               fmt::format("PyTorchJob {} is running.",
                           state.HasMaster() ? state.job.name : LongName(state)),
               state.stamp);
}

void RecordSuccess(JobState& state) {
  const std::string message =
      state.HasMaster() ? fmt::format("PyTorchJob {} is successfully completed.", state.job.name)
                        : fmt::format("PyTorchJob {} successfully completed.", LongName(state));
  SetCondition(state.status, kSucceeded, true, kSucceededReason, message, state.stamp);
  if (!state.status.completion_time) state.status.completion_time = state.stamp;
  state.plan.events.push_back(Normal(kSucceededReason, message));
  state.plan.counters.push_back(Counter::kSucceeded);
}

void RecordFailure(JobState& state, Failure failure) {
  std::string message = failure.message;
  if (!failure.last_lines.empty()) message.append(api::kLastLinesMark).append(failure.last_lines);
  SetCondition(state.status, kFailed, true, kFailedReason, std::move(message), state.stamp);
  if (!state.status.completion_time) state.status.completion_time = state.stamp;
  state.plan.events.push_back(
      {failure.is_warning, std::string(kFailedReason), std::move(failure.message)});
  state.plan.counters.push_back(Counter::kFailed);
}

}  // namespace reconcile
