// The end of a job that has run into one of its limits.
#pragma once

#include <optional>

#include "reconcile/job_state.h"
#include "reconcile/outcome.h"

namespace reconcile {

// When the job is to end now by its back-off limit or deadline.
std::optional<Failure> FindExceededLimit(const JobState& state);

// Whether a limit ended the job. What still runs goes then, whatever cleanPodPolicy says. Told by
// the message of Failed: the status is written first and the pods are deleted by later passes, so
// that neither a crash nor a refused write between the two makes the job run again.
bool HasEndedByLimit(const JobState& state);

}  // namespace reconcile
