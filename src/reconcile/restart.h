// What the failure of a pod means for it (compat/pytorchjob.md 2.5).
#pragma once

#include <optional>
#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// Whether the job fails with the first container that does: nothing is restarted (backoffLimit 0).
bool HasNoRestarts(const api::PyTorchJob& job);

// The pod's own restartPolicy: ExitCode is Never there, and so is OnFailure in a job that has no
// restarts, for the restarted container would only hide the log of the one that failed. Every other
// word stands as written.
std::string PodRestartPolicy(const api::PyTorchJob& job, const api::ReplicaSpec& spec);

// 128 and above; an exit code that nobody knows too.
bool IsRetryable(std::optional<int> exit_code);

// Whether the policy has pods replaced or restarted when something goes wrong.
bool IsRestartedAtAll(const api::ReplicaSpec& spec);

// Whether a failed pod under `spec` is replaced. One that was disrupted is, whatever its exit code.
bool IsToBeReplaced(const api::ReplicaSpec& spec, const Pod& pod);

// Says once what disrupts pods of a job that has a scope: when their restart is put on record.
void AnnounceDisruptions(JobState& state);

// Deletes the failed pods that are to be replaced (the next passes make their successors), sets
// Restarting, and says so once. Returns whether there was one. Pods that are being deleted already
// are left alone: they have been reported, except for disrupted ones.
bool ReplaceFailedPods(JobState& state);

}  // namespace reconcile
