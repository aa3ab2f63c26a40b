// runPolicy.activeDeadlineSeconds (compat/pytorchjob.md 2.5).
#pragma once

#include <cstdint>
#include <optional>

#include "api/job/pytorch_job.h"
#include "base/clock.h"

namespace reconcile {

// `start` and so many seconds; nullopt when that is beyond what a clock will ever show.
std::optional<base::Time> After(base::Time start, int64_t seconds);

// The moment at which the job has been active for too long. Nothing without a deadline, and before
// the job has started.
std::optional<base::Time> Deadline(const api::RunPolicy& policy, const api::JobStatus& status);

}  // namespace reconcile
