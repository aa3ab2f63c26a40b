// runPolicy.ttlSecondsAfterFinished (compat/pytorchjob.md 2.8).
#pragma once

#include <optional>

#include "api/job/pytorch_job.h"
#include "base/clock.h"

namespace reconcile {

// When the job object has to be deleted; nullopt without a TTL, and before the job has finished.
std::optional<base::Time> Expiry(const api::RunPolicy& policy, const api::JobStatus& status);

// When to look for it.
std::optional<base::Time> LookForExpiry(const api::RunPolicy& policy, const api::JobStatus& status,
                                        base::Time now);

// Gives a finished job without completionTime (v1 omits it after a permanent exit code) the time of
// the condition that ended it.
void RepairCompletionTime(api::JobStatus& status);

}  // namespace reconcile
