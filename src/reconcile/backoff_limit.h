// runPolicy.backoffLimit (compat/pytorchjob.md 2.5).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// What is counted is restarts of containers in place, by the kubelet, and the ones that a container
// is waiting for. Pods that were replaced are not, as in v1: they are gone, and the status has no
// place for their number. Only a limit of 0 sees them: the first failed pod exceeds it. With a
// restart scope (restart_scope.h) they count too: the job fails when it would take one more than
// the limit.
bool HasReachedBackoffLimit(const JobState& state);

}  // namespace reconcile
