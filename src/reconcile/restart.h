// How failed pods are handled (compat/pytorchjob.md 2.5).
#pragma once

#include <optional>
#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// Whether the first failed container fails the job because nothing is restarted (backoffLimit 0).
bool HasNoRestarts(const api::PyTorchJob& job);

// The restartPolicy of the pod itself. ExitCode becomes Never. So does OnFailure in a job without
// restarts, because restarting the container would only hide the log of the one that failed. Any
// other value is kept as written.
std::string PodRestartPolicy(const api::PyTorchJob& job, const api::ReplicaSpec& spec);

// True for 128 and above, and for an unknown exit code.
bool IsRetryable(std::optional<int> exit_code);

// Whether the policy replaces pods or restarts their containers after a failure.
bool IsRestartedAtAll(const api::ReplicaSpec& spec);

// Whether a failed pod under `spec` is replaced. A disrupted one is, whatever its exit code.
bool IsToBeReplaced(const api::ReplicaSpec& spec, const Pod& pod);

// For a job with a restart scope: emits events about what disrupts its pods, once, when the restart
// is recorded.
void AnnounceDisruptions(JobState& state);

// Deletes the failed pods that have to be replaced (later reconciliations create their successors),
// sets Restarting and emits one event. Returns whether there was such a pod. Leaves pods alone that
// are already being deleted: they have been reported, except for disrupted ones.
bool ReplaceFailedPods(JobState& state);

}  // namespace reconcile
