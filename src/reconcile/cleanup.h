// Which children of a finished or suspended job go (compat/pytorchjob.md 2.7, 2.8).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// kAll: everything of the job's own. kRunning: pods that run or may come to run, and every service
// without a pod that stays. kNone, and a policy that we do not know: nothing.
void DeleteChildren(JobState& state, api::CleanPodPolicy policy);

// For a finished job: what has a node ends there and stays, what has none never began and is
// deleted.
void EndPods(JobState& state);

}  // namespace reconcile
