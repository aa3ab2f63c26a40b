// Which children of a finished or suspended job are deleted (compat/pytorchjob.md 2.7, 2.8).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// kAll: everything that the job controls. kRunning: pods that run or may still start, and every
// service whose pod does not stay. kNone, and an unknown policy: no child.
void DeleteChildren(JobState& state, api::CleanPodPolicy policy);

// For a finished job: a pod that has a node is ended there and stays; a pod without a node never
// started and is deleted.
void EndPods(JobState& state);

}  // namespace reconcile
