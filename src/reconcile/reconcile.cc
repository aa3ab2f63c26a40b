#include "reconcile/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/pod.h"
#include "reconcile/abnormal_pods.h"
#include "reconcile/autoscaler.h"
#include "reconcile/cleanup.h"
#include "reconcile/conditions.h"
#include "reconcile/gang.h"
#include "reconcile/job_state.h"
#include "reconcile/limits/deadline.h"
#include "reconcile/limits/limits.h"
#include "reconcile/limits/ttl.h"
#include "reconcile/outcome.h"
#include "reconcile/pod/master_port.h"
#include "reconcile/pods.h"
#include "reconcile/restart.h"
#include "reconcile/restart_scope.h"
#include "reconcile/services.h"
#include "reconcile/suspend.h"
#include "reconcile/wait_for.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

bool IsManagedElsewhere(const api::PyTorchJob& job) {
  return job.run_policy.managed_by && *job.run_policy.managed_by != api::kManagedByUs;
}

// After a limit, pods that have ended stay because their logs say why, unless the user has written
// All. The original deletes everything then (2.5).
api::CleanPodPolicy CleanPolicyOf(const JobState& state) {
  const api::CleanPodPolicy wanted = state.job.run_policy.Clean();
  if (!HasEndedByLimit(state) || wanted == api::CleanPodPolicy::kAll) return wanted;
  return api::CleanPodPolicy::kRunning;
}

// Whether the running pods of a finished job are ended in place and stay. For a succeeded job only
// when the user has not said what happens to them.
bool EndsInPlace(const JobState& state) {
  if (!state.options.ends_pods_in_place) return false;
  const text::Json* const written =
      text::Find(*state.observed.job, {"spec", "runPolicy", "cleanPodPolicy"});
  return state.status.Is(kFailed) || written == nullptr || written->is_null();
}

// Until when clean-up waits for the pods of a succeeded job to end by themselves.
std::optional<base::Time> EndOfPatience(const JobState& state) {
  const bool ends_what_runs =
      EndsInPlace(state) || CleanPolicyOf(state) == api::CleanPodPolicy::kRunning;
  if (state.options.success_grace <= base::Duration::zero() || !state.status.Is(kSucceeded) ||
      !ends_what_runs || !state.status.completion_time) {
    return std::nullopt;
  }
  const base::Time end = *state.status.completion_time + state.options.success_grace;
  if (state.now >= end) return std::nullopt;
  const auto types = state.Types();
  const bool is_running = std::any_of(types.begin(), types.end(), [](const Replicas* replicas) {
    return std::any_of(replicas->pods.begin(), replicas->pods.end(), [](const Pod& pod) {
      // A pod that has a node is about to run.
      const bool has_begun = pod.phase == Phase::kRunning ||
                             (pod.phase == Phase::kPending && !api::NodeName(*pod.object).empty());
      return pod.is_own && !pod.is_terminating && has_begun;
    });
  });
  return is_running ? std::optional(end) : std::nullopt;
}

// Pods that still run when the job has succeeded have done their part.
void CountActiveAsSucceeded(api::JobStatus& status) {
  for (auto& [type, replicas] : status.replica_statuses) {
    replicas.succeeded += std::exchange(replicas.active, 0);
  }
}

std::optional<base::Time> Earlier(std::optional<base::Time> a, std::optional<base::Time> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

// A finished job gets clean-up and nothing else.
void KeepFinished(JobState& state) {
  RepairCompletionTime(state.status);
  if (state.status.Is(kSucceeded)) CountActiveAsSucceeded(state.status);
  const auto expiry = Expiry(state.job.run_policy, state.status);
  if (expiry && state.now >= *expiry) {
    // The garbage collector deletes the children with the job.
    state.plan.writes.push_back(DeleteJob(state.job));
    state.plan.counters.push_back(Counter::kDeleted);
    return;
  }
  const auto look = LookForExpiry(state.job.run_policy, state.status, state.now);
  state.plan.look_again = look;
  if (const auto patience = EndOfPatience(state)) {
    state.plan.look_again = Earlier(look, patience);
    return;
  }
  if (EndsInPlace(state)) {
    EndPods(state);
  } else {
    DeleteChildren(state, CleanPolicyOf(state));
  }
  DeletePodGroup(state);
  DeleteAutoscaler(state);
}

void RecordCreation(JobState& state) {
  if (state.status.Find(kCreated) != nullptr) return;
  SetCondition(state.status, kCreated, true, kCreatedReason,
               fmt::format("PyTorchJob {} is created.", state.job.name), state.stamp);
  state.plan.counters.push_back(Counter::kCreated);
}

// Records the end of the job, if it has ended, and returns whether it has. Success is checked
// first: a job whose master succeeded has succeeded, whatever else has happened since the last
// reconciliation. A job whose pods are still running when its end is seen has run, even if nobody
// saw that before. Only later reconciliations, with the end recorded, touch the pods, so that they
// cannot be created anew.
bool RecordEnd(JobState& state) {
  if (HasSucceeded(state)) {
    AnnounceExits(state);
    RecordCounts(state);
    RecordRunning(state);
    RecordSuccess(state);
    CountActiveAsSucceeded(state.status);
    return true;
  }
  if (auto limit = FindExceededLimit(state)) {
    RecordCounts(state);
    // Running pods are deleted.
    for (auto& [type, status] : state.status.replica_statuses) status.active = 0;
    RecordRunning(state);
    RecordFailure(state, *std::move(limit));
    return true;
  }
  if (auto failure = FindFailure(state)) {
    AnnounceExits(state);
    RecordCounts(state);
    RecordRunning(state);
    RecordFailure(state, *std::move(failure));
    return true;
  }
  if (auto nameless = FindNamelessRank0(state)) {
    RecordCounts(state);
    RecordFailure(state, {true, *std::move(nameless)});
    return true;
  }
  return false;
}

// Written when the wait begins and not while it lasts, because each write triggers another
// reconciliation.
void RecordWait(JobState& state) {
  if (state.status.last_reconcile_time && AreEqual(state.status, state.job.status)) return;
  state.status.last_reconcile_time = state.stamp;
}

void Run(JobState& state) {
  if (state.status.IsFinished()) return KeepFinished(state);
  RecordCreation(state);
  if (state.job.run_policy.suspend) {
    if (!EndWait(state)) Suspend(state);
    return;
  }
  if (ResumeIfSuspended(state)) return RecordCounts(state);
  AnnounceAbnormalPods(state);
  if (RecordEnd(state)) return;
  if (RecordRestarts(state)) {
    // The restart is recorded first and carried out later.
    AnnounceDisruptions(state);
    return;
  }
  ReconcileAutoscaler(state);
  const bool has_to_wait = HasToWaitForPodGroup(state);
  if (has_to_wait) {
    RecordWait(state);
  } else {
    AnnounceExits(state);
    const bool is_restarting = ReplaceFailedPods(state);
    ReconcileReplicas(state);
    RecordCounts(state);
    if (!is_restarting) RecordRunning(state);
  }
  state.plan.look_again = Earlier(LookForDeadline(state.job.run_policy, state.status, state.now),
                                  state.children.next_loss);
}

Plan Finish(JobState& state) {
  if (!AreEqual(state.status, state.job.status))
    state.plan.status = api::StatusToJson(state.status);
  state.plan.is_settled = state.job.status.IsFinished() && state.plan.writes.empty() &&
                          !state.plan.status && !state.plan.look_again;
  return std::move(state.plan);
}

}  // namespace

Plan Reconcile(const Observed& observed, const Options& options, base::Time now) {
  if (observed.job == nullptr) return {};
  auto job = api::ParsePyTorchJob(*observed.job);
  if (!job || job->uid.empty()) return {};
  if (IsManagedElsewhere(*job) || job->is_deleting) {
    Plan plan;
    plan.is_settled = true;
    return plan;
  }
  api::SetDefaults(*job);
  if (job->Master() == nullptr && job->Worker() == nullptr) return {};
  const auto chosen_port = observed.master_port ? std::nullopt : ChosenMasterPort(*job);
  if (!chosen_port) {
    JobState state(observed, options, now, *std::move(job));
    Run(state);
    return Finish(state);
  }
  Observed with_port = observed;
  with_port.master_port = chosen_port;
  JobState state(with_port, options, now, *std::move(job));
  Run(state);
  return Finish(state);
}

}  // namespace reconcile
