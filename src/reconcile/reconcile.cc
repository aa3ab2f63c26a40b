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
#include "reconcile/deadline.h"
#include "reconcile/gang.h"
#include "reconcile/job_state.h"
#include "reconcile/limits.h"
#include "reconcile/master_port.h"
#include "reconcile/outcome.h"
#include "reconcile/pods.h"
#include "reconcile/restart.h"
#include "reconcile/restart_scope.h"
#include "reconcile/services.h"
#include "reconcile/suspend.h"
#include "reconcile/ttl.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

bool IsManagedElsewhere(const api::PyTorchJob& job) {
  return job.run_policy.managed_by && *job.run_policy.managed_by != api::kManagedByUs;
}

// After a limit what has ended stays, for its log tells why, unless the user has written All. The
// original deletes everything then (2.5).
api::CleanPodPolicy CleanPolicyOf(const Pass& pass) {
  const api::CleanPodPolicy wanted = pass.job.run_policy.Clean();
  if (!HasEndedByLimit(pass) || wanted == api::CleanPodPolicy::kAll) return wanted;
  return api::CleanPodPolicy::kRunning;
}

// Whether what still runs of a finished job ends and stays. Of one that has succeeded only where
// nobody has written what is to become of it.
bool EndsInPlace(const Pass& pass) {
  if (!pass.options.ends_pods_in_place) return false;
  const text::Json* const written =
      text::Find(*pass.observed.job, {"spec", "runPolicy", "cleanPodPolicy"});
  return pass.status.Is(kFailed) || written == nullptr || written->is_null();
}

// Until when clean-up waits for pods of a succeeded job to end by themselves.
std::optional<base::Time> EndOfPatience(const Pass& pass) {
  const bool ends_what_runs =
      EndsInPlace(pass) || CleanPolicyOf(pass) == api::CleanPodPolicy::kRunning;
  if (pass.options.success_grace <= base::Duration::zero() || !pass.status.Is(kSucceeded) ||
      !ends_what_runs || !pass.status.completion_time) {
    return std::nullopt;
  }
  const base::Time end = *pass.status.completion_time + pass.options.success_grace;
  if (pass.now >= end) return std::nullopt;
  const auto types = pass.Types();
  const bool is_running = std::any_of(types.begin(), types.end(), [](const Replicas* replicas) {
    return std::any_of(replicas->pods.begin(), replicas->pods.end(), [](const Pod& pod) {
      // A pod that has its place is about to run.
      const bool has_begun = pod.phase == Phase::kRunning ||
                             (pod.phase == Phase::kPending && !api::NodeName(*pod.object).empty());
      return pod.is_own && !pod.is_terminating && has_begun;
    });
  });
  return is_running ? std::optional(end) : std::nullopt;
}

// What still runs when the job has succeeded has done its part.
void CountActiveAsSucceeded(api::JobStatus& status) {
  for (auto& [type, replicas] : status.replica_statuses) {
    replicas.succeeded += std::exchange(replicas.active, 0);
  }
}

// Nothing but clean-up is ever done for a finished job.
void KeepFinished(Pass& pass) {
  RepairCompletionTime(pass.status);
  if (pass.status.Is(kSucceeded)) CountActiveAsSucceeded(pass.status);
  const auto expiry = Expiry(pass.job.run_policy, pass.status);
  if (expiry && pass.now >= *expiry) {
    // The children go with the job.
    pass.plan.writes.push_back(DeleteJob(pass.job));
    pass.plan.counters.push_back(Counter::kDeleted);
    return;
  }
  pass.plan.look_again = expiry;
  if (const auto patience = EndOfPatience(pass)) {
    pass.plan.look_again = expiry ? std::min(*expiry, *patience) : *patience;
    return;
  }
  if (EndsInPlace(pass)) {
    EndPods(pass);
  } else {
    DeleteChildren(pass, CleanPolicyOf(pass));
  }
  DeletePodGroup(pass);
  DeleteAutoscaler(pass);
}

void RecordCreation(Pass& pass) {
  if (pass.status.Find(kCreated) != nullptr) return;
  SetCondition(pass.status, kCreated, true, kCreatedReason,
               fmt::format("PyTorchJob {} is created.", pass.job.name), pass.stamp);
  pass.plan.counters.push_back(Counter::kCreated);
}

std::optional<base::Time> Earlier(std::optional<base::Time> a, std::optional<base::Time> b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

// Whether the job has come to its end. Success is asked first: a job whose master is done has
// succeeded, whatever else has happened since the last pass. The pods are touched by later passes
// only, when the end is on record, so that they cannot be made anew.
bool RecordEnd(Pass& pass) {
  if (HasSucceeded(pass)) {
    AnnounceExits(pass);
    RecordCounts(pass);
    RecordSuccess(pass);
    CountActiveAsSucceeded(pass.status);
    return true;
  }
  if (auto limit = FindExceededLimit(pass)) {
    RecordCounts(pass);
    // What runs is deleted.
    for (auto& [type, status] : pass.status.replica_statuses) status.active = 0;
    RecordFailure(pass, *std::move(limit));
    return true;
  }
  if (auto failure = FindFailure(pass)) {
    AnnounceExits(pass);
    RecordCounts(pass);
    RecordFailure(pass, *std::move(failure));
    return true;
  }
  if (auto nameless = FindNamelessRank0(pass)) {
    RecordCounts(pass);
    RecordFailure(pass, {true, *std::move(nameless)});
    return true;
  }
  return false;
}

// Written when the wait begins, and not again while it lasts: a write would call for the next pass.
void RecordWait(Pass& pass) {
  if (pass.status.last_reconcile_time && AreEqual(pass.status, pass.job.status)) return;
  pass.status.last_reconcile_time = pass.stamp;
}

void Run(Pass& pass) {
  if (pass.status.IsFinished()) return KeepFinished(pass);
  RecordCreation(pass);
  if (pass.job.run_policy.suspend) return Suspend(pass);
  if (ResumeIfSuspended(pass)) return RecordCounts(pass);
  AnnounceAbnormalPods(pass);
  if (RecordEnd(pass)) return;
  if (RecordRestarts(pass)) {
    // First it is on record, then it is done.
    AnnounceDisruptions(pass);
    return;
  }
  ReconcileAutoscaler(pass);
  const bool has_to_wait = HasToWaitForPodGroup(pass);
  if (has_to_wait) {
    RecordWait(pass);
  } else {
    AnnounceExits(pass);
    const bool is_restarting = ReplaceFailedPods(pass);
    ReconcileReplicas(pass);
    RecordCounts(pass);
    if (!is_restarting) RecordRunning(pass);
  }
  pass.plan.look_again =
      Earlier(Deadline(pass.job.run_policy, pass.status), pass.children.next_loss);
}

Plan Finish(Pass& pass) {
  if (!AreEqual(pass.status, pass.job.status)) pass.plan.status = api::StatusToJson(pass.status);
  pass.plan.is_settled = pass.job.status.IsFinished() && pass.plan.writes.empty() &&
                         !pass.plan.status && !pass.plan.look_again;
  return std::move(pass.plan);
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
    Pass pass(observed, options, now, *std::move(job));
    Run(pass);
    return Finish(pass);
  }
  Observed with_port = observed;
  with_port.master_port = chosen_port;
  Pass pass(with_port, options, now, *std::move(job));
  Run(pass);
  return Finish(pass);
}

}  // namespace reconcile
