// runPolicy.suspend (compat/pytorchjob.md 2.7).
#pragma once

#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// Says Suspended, and takes everything away in the passes after that: pods that die then are known
// to, even if the job is resumed meanwhile. startTime stays as it was.
void Suspend(JobState& state);

// For a job that is not suspended: if it was, starts its time anew, says so and returns true. Pods
// are made by later passes only, for they carry the new run.
bool ResumeIfSuspended(JobState& state);

// What pods of a job that has been resumed carry as kRunAnnotation: its startTime, never that of
// the run before. "" before the first resumption.
std::string RunOf(const api::JobStatus& status);

// Whether a pod that is being deleted was made before the job's last resumption. Not told by times:
// a kubelet that ends a pod renews its deletionTimestamp, and clocks have whole seconds and differ.
bool IsOfAnEarlierRun(const api::JobStatus& status, const text::Json& pod);

}  // namespace reconcile
