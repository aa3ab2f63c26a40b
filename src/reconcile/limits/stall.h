// --on-stall=stop: a job whose ranks are held up fails.
#pragma once

#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// What holds up the ranks ("rank 1 has not entered all_reduce ..."), if the job is to end because
// of it; "" otherwise, also while a pod has not started. Only for jobs of several pods: in a single
// pod the launcher of the ranks ends them.
std::string StallToEndFor(const JobState& state);

}  // namespace reconcile
