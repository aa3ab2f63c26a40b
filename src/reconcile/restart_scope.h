// What a failed pod takes with it when it is replaced: by default nothing, as in v1; with the
// annotation muster.dev/restart-scope on the job
//   pod      nothing, but replacements are counted towards backoffLimit
//   replica  all pods of its type
//   job      all pods: ranks meet anew
// So does one that is disrupted, from the moment on that its deletion is asked for; that is counted
// apart, and not towards backoffLimit unless the job says muster.dev/count-disruptions.
// A restart is put on record in the job's status before a pod is touched, in the messages of the
// conditions Restarts and Disruptions ("worker-0=2,worker-3=1"): no webhook stands in the way of a
// status, and every CRD keeps a condition. Pods carry the count they were made under: those of an
// older count go, whichever crashes when.
#pragma once

#include <string_view>

#include "reconcile/job_state.h"

namespace reconcile {

// Always before the other conditions: the last tells the job's state.
inline constexpr std::string_view kRestarts = "Restarts";
inline constexpr std::string_view kDisruptions = "Disruptions";

enum class RestartScope { kUnset, kPod, kReplica, kJob };

// A word that is none of the three is kUnset.
RestartScope ScopeOf(const api::PyTorchJob& job);

// Failures do, disruptions only of a job that says so.
bool CountsTowardsLimit(const api::PyTorchJob& job, const Pod& pod);

// Whether the restarts on record and the ones that failed pods call for are more than backoffLimit.
// Never without a scope or a limit.
bool HasSpentRestarts(const JobState& state);

// Puts on record the restarts that failed pods call for. Returns whether there are any: nothing
// else is to be done or said in this pass.
bool RecordRestarts(JobState& state);

// Whether the pod is of before a restart on record.
bool IsOutdated(const api::PyTorchJob& job, const Replicas& replicas, const Pod& pod);

// Whether the job has that pod go by its restart policy and the scope, if there is one: it has
// failed so, or is disrupted where anything is restarted at all.
bool CallsForRestart(const api::ReplicaSpec& spec, const Pod& pod);

// Whether pods of this type have to wait with their creation for outdated ones to be gone.
bool MustWaitForRestart(const JobState& state, const Replicas& replicas);

// The count that a pod of that place is made under; 0 without a scope.
int RestartsOf(const api::PyTorchJob& job, const Replicas& replicas, int index);

}  // namespace reconcile
