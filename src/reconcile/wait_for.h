// A job that starts when others have succeeded (api/job/wait_for.h).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// For a suspended job. When all that it waits for have succeeded it is to start, by a patch of its
// own; when one of them has failed or is gone it fails. True in both cases. False: it goes on
// waiting, or waits for none.
bool EndWait(JobState& state);

}  // namespace reconcile
