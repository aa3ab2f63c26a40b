// Which pods are deleted together with a failed one. By default none, as in v1; the job's
// annotation muster.dev/restart-scope may be
//   pod      none, but replacements count towards backoffLimit
//   replica  all pods of its type
//   job      all pods, so that the ranks meet anew
// A disrupted pod has the same effect as soon as its deletion is requested. Disruptions are counted
// apart, and count towards backoffLimit only when the job says muster.dev/count-disruptions.
// A restart is recorded in the job's status before any pod is deleted, in the messages of the
// conditions Restarts and Disruptions ("worker-0=2,worker-3=1"): webhooks do not reject a status,
// and every CRD keeps a condition. Pods carry the count under which they were created. Pods of an
// older count are deleted, whatever crashes in between.
#pragma once

#include <string_view>

#include "reconcile/job_state.h"

namespace reconcile {

// Placed before all other conditions, because clients read the job's state from the last one.
inline constexpr std::string_view kRestarts = "Restarts";
inline constexpr std::string_view kDisruptions = "Disruptions";

enum class RestartScope { kUnset, kPod, kReplica, kJob };

// kUnset without the annotation, or when its value is not one of the three.
RestartScope ScopeOf(const api::PyTorchJob& job);

// True for failures, and for disruptions when the job asks for it.
bool CountsTowardsLimit(const api::PyTorchJob& job, const Pod& pod);

// Whether the recorded restarts plus the ones that failed pods now require exceed backoffLimit.
// False without a scope or a limit.
bool HasSpentRestarts(const JobState& state);

// Records the restarts that failed pods require. Returns whether there are any: this reconciliation
// then does and says nothing else.
bool RecordRestarts(JobState& state);

// Whether the pod was made before a restart that has been recorded.
bool IsOutdated(const api::PyTorchJob& job, const Replicas& replicas, const Pod& pod);

// Whether the pod has to be restarted under its restart policy and the scope, if there is one: it
// has failed that way, or it is disrupted and its policy restarts pods at all.
bool CallsForRestart(const api::ReplicaSpec& spec, const Pod& pod);

// Whether no pod of this type may be created until the outdated ones are gone.
bool MustWaitForRestart(const JobState& state, const Replicas& replicas);

// The count under which a pod of that index is created; 0 without a scope.
int RestartsOf(const api::PyTorchJob& job, const Replicas& replicas, int index);

}  // namespace reconcile
