// What the failure of a pod means for it (spec/pytorchjob-operator.md 2.5).
#pragma once

#include <optional>
#include <string>

#include "reconcile/pass.h"

namespace reconcile {

// The pod's own restartPolicy: ExitCode is Never there, every other word stands as written.
std::string PodRestartPolicy(const api::ReplicaSpec& spec);

// 128 and above; an exit code that nobody knows too.
bool IsRetryable(std::optional<int> exit_code);

// Whether a failed pod under `spec` is replaced.
bool IsToBeReplaced(const api::ReplicaSpec& spec, const Pod& pod);

// Deletes the failed pods that are to be replaced (the next passes make their successors), sets
// Restarting, and says so once. Returns whether there was one. Pods that are being deleted already
// are left alone: they have been spoken of.
bool ReplaceFailedPods(Pass& pass);

}  // namespace reconcile
