// runPolicy.suspend (compat/pytorchjob.md 2.7).
#pragma once

#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// Sets Suspended; later reconciliations delete the children. Pods that end after that are then
// known to be of the suspended run, even if the job is resumed meanwhile. startTime is kept.
void Suspend(JobState& state);

// If the job was suspended: sets a new startTime, records the resumption and returns true. Pods are
// created only by later reconciliations, because they carry the id of the new run.
bool ResumeIfSuspended(JobState& state);

// The value of kRunAnnotation on the pods of a resumed job: its startTime, which always differs
// from that of the run before. "" before the first resumption.
std::string RunOf(const api::JobStatus& status);

// Whether a pod that is being deleted was created before the job's last resumption. Times do not
// show that: a kubelet that ends a pod renews its deletionTimestamp, and clocks count whole seconds
// and differ.
bool IsOfAnEarlierRun(const api::JobStatus& status, const text::Json& pod);

}  // namespace reconcile
