// runPolicy.backoffLimit (compat/pytorchjob.md 2.5).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// Whether the job's restarts have reached the limit. They are the restarts of containers in place
// by the kubelet, plus the restarts that containers are waiting for. Replaced pods are not counted,
// as in v1: they are gone, and the status has no field for their number. A limit of 0 is the
// exception, since the first failed pod exceeds it. With a restart scope (restart_scope.h)
// replacements count too, and the job fails when it would need one more than the limit.
bool HasReachedBackoffLimit(const JobState& state);

}  // namespace reconcile
