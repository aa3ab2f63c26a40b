// The HorizontalPodAutoscaler of an elastic job (compat/pytorchjob.md 2.6).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// Creates it when elasticPolicy.metrics is set, updates it when its spec differs, and deletes it
// when the metrics are gone. Leaves an autoscaler of the same name alone when the job does not own
// it.
void ReconcileAutoscaler(JobState& state);

void DeleteAutoscaler(JobState& state);

}  // namespace reconcile
