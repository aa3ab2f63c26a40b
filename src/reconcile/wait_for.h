// A job that starts when other jobs have succeeded (api/job/wait_for.h).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// For a suspended job. Starts it, by a patch of its own, when all jobs that it waits for have
// succeeded; fails it when one of them has failed or is gone. Returns true in both cases, and false
// when the job still waits, or waits for none.
bool EndWait(JobState& state);

}  // namespace reconcile
