#include "reconcile/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/failure_cause.h"
#include "api/pod.h"
#include "reconcile/conditions.h"
#include "reconcile/pods.h"
#include "reconcile/restart.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

// v1 names the job's namespace in some messages of jobs without a master.
std::string LongName(const Pass& pass) {
  return fmt::format("{}/{}", pass.job.namespace_name, pass.job.name);
}

bool IsOfAnEarlierRun(const Pod& pod, const std::optional<base::Time>& start_time) {
  if (!pod.is_terminating || !start_time) return false;
  const auto asked = pod.DeletionAsked();
  return asked && *asked <= *start_time;
}

bool CountsAsFailed(const Pod& pod) {
  return pod.phase == Phase::kFailed || (pod.phase == Phase::kRunning && pod.is_terminating);
}

std::optional<Failure> FindFailure(const Pass& pass, const Replicas& replicas) {
  if (replicas.spec == nullptr) return std::nullopt;
  const api::RestartPolicy policy = replicas.spec->Policy();
  if (policy == api::RestartPolicy::kExitCode) {
    for (const Pod& pod : replicas.pods) {
      if (!replicas.IsWanted(pod) || pod.is_terminating || pod.phase != Phase::kFailed) continue;
      if (IsRetryable(pod.ExitCode())) continue;
      return Failure{true, fmt::format("job \"{}\" is failing because \"{}\" replica(s) failed.",
                                       pass.job.name, replicas.type)};
    }
    return std::nullopt;
  }
  if (policy != api::RestartPolicy::kNever && policy != api::RestartPolicy::kUnknown) {
    return std::nullopt;
  }
  const auto failed =
      std::count_if(replicas.pods.begin(), replicas.pods.end(), [&](const Pod& pod) {
        return replicas.IsWanted(pod) && CountsAsFailed(pod) &&
               !IsOfAnEarlierRun(pod, pass.status.start_time);
      });
  if (failed == 0) return std::nullopt;
  return Failure{false, fmt::format("PyTorchJob {} is failed because {} {} replica(s) failed.",
                                    pass.job.name, failed, replicas.type)};
}

// "pod j-worker-0 is lost with its node n1"
std::string FirstLoss(const Pass& pass) {
  for (const Replicas* const replicas : pass.Types()) {
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
    if (!replicas.IsWanted(pod)) continue;
    if (CountsAsFailed(pod)) {
      ++tally.failed;
    } else if (pod.phase == Phase::kRunning) {
      ++tally.active;
    } else if (pod.phase == Phase::kSucceeded) {
      ++tally.succeeded;
    }
  }
  return tally;
}

bool HasSucceeded(const Pass& pass) {
  const Replicas& deciding = pass.HasMaster() ? pass.children.master : pass.children.worker;
  const int32_t wanted = deciding.Wanted();
  if (wanted <= 0) return false;
  const int32_t succeeded = Count(deciding).succeeded;
  const bool one_is_enough = !pass.HasMaster() && pass.job.elastic_policy.has_value();
  return succeeded >= (one_is_enough ? 1 : wanted);
}

bool IsRunning(const Pass& pass) {
  return Count(pass.HasMaster() ? pass.children.master : pass.children.worker).active > 0;
}

std::optional<Failure> FindFailure(const Pass& pass) {
  for (const Replicas* const replicas : pass.Types()) {
    if (auto failure = FindFailure(pass, *replicas)) {
      AddFirstFailure(pass, " ", *failure);
      return failure;
    }
  }
  return std::nullopt;
}

void AddFirstFailure(const Pass& pass, std::string_view before, Failure& failure) {
  if (!pass.options.tells_first_failure) return;
  std::vector<const text::Json*> pods;
  for (const Replicas* const replicas : pass.Types()) {
    for (const Pod& pod : replicas->pods) pods.push_back(pod.object);
  }
  api::FirstFailure first = api::FindFirstFailure(pods, pass.HasMaster());
  if (first.text.empty()) first.text = FirstLoss(pass);
  if (first.text.empty()) return;
  failure.message.append(before).append(first.text);
  failure.last_lines = std::move(first.last_lines);
}

void RecordCounts(Pass& pass) {
  for (const Replicas* const replicas : pass.Types()) {
    const std::string type(replicas->type);
    if (replicas->spec == nullptr) {
      pass.status.replica_statuses.erase(type);
      continue;
    }
    const Tally tally = Count(*replicas);
    api::ReplicaStatus& status = pass.status.replica_statuses[type];
    status.active = tally.active;
    status.succeeded = tally.succeeded;
    status.failed = tally.failed;
    if (status.selector.empty()) status.selector = Selector(pass.job, replicas->label);
  }
  if (!pass.status.start_time) pass.status.start_time = pass.stamp;
}

void RecordRunning(Pass& pass) {
  if (!IsRunning(pass)) return;
  SetCondition(
      pass.status, kRunning, true, kRunningReason,
      fmt::format("PyTorchJob {} is running.", pass.HasMaster() ? pass.job.name : LongName(pass)),
      pass.stamp);
}

void RecordSuccess(Pass& pass) {
  const std::string message =
      pass.HasMaster() ? fmt::format("PyTorchJob {} is successfully completed.", pass.job.name)
                       : fmt::format("PyTorchJob {} successfully completed.", LongName(pass));
  SetCondition(pass.status, kSucceeded, true, kSucceededReason, message, pass.stamp);
  if (!pass.status.completion_time) pass.status.completion_time = pass.stamp;
  pass.plan.events.push_back(Normal(kSucceededReason, message));
  pass.plan.counters.push_back(Counter::kSucceeded);
}

void RecordFailure(Pass& pass, Failure failure) {
  std::string message = failure.message;
  if (!failure.last_lines.empty()) message.append(api::kLastLinesMark).append(failure.last_lines);
  SetCondition(pass.status, kFailed, true, kFailedReason, std::move(message), pass.stamp);
  if (!pass.status.completion_time) pass.status.completion_time = pass.stamp;
  pass.plan.events.push_back(
      {failure.is_warning, std::string(kFailedReason), std::move(failure.message)});
  pass.plan.counters.push_back(Counter::kFailed);
}

}  // namespace reconcile
