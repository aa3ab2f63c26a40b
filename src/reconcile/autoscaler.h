// The HorizontalPodAutoscaler of an elastic job (compat/pytorchjob.md 2.6).
#pragma once

#include "reconcile/job_state.h"

namespace reconcile {

// Makes it when elasticPolicy.metrics is set, updates it when its spec differs, deletes it when
// the metrics are gone. One of the job's name that is not the job's is left alone.
void ReconcileAutoscaler(JobState& state);

void DeleteAutoscaler(JobState& state);

}  // namespace reconcile
