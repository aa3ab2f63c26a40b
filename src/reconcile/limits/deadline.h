// runPolicy.activeDeadlineSeconds (compat/pytorchjob.md 2.5).
#pragma once

#include <cstdint>
#include <optional>

#include "api/job/pytorch_job.h"
#include "base/clock.h"

namespace reconcile {

// `start` plus `seconds`; nullopt when a clock cannot represent the sum.
std::optional<base::Time> After(base::Time start, int64_t seconds);

// When to look at `limit`, which is `seconds` after something past: sooner than at that time if the
// clock was set back, because it may soon be right again.
std::optional<base::Time> LookAt(std::optional<base::Time> limit, std::optional<int64_t> seconds,
                                 base::Time now);

// The moment from which the job has been active for too long; nullopt without a deadline, and
// before the job has started.
std::optional<base::Time> Deadline(const api::RunPolicy& policy, const api::JobStatus& status);
// When to look for it.
std::optional<base::Time> LookForDeadline(const api::RunPolicy& policy,
                                          const api::JobStatus& status, base::Time now);

}  // namespace reconcile
