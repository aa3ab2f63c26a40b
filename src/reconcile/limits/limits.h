// Ends a job that has exceeded one of its limits.
#pragma once

#include <optional>

#include "reconcile/job_state.h"
#include "reconcile/outcome.h"

namespace reconcile {

// Why the job has to end now, by its back-off limit or deadline, or because it is stalled; nullopt
// when it need not.
std::optional<Failure> FindExceededLimit(const JobState& state);

// Whether a limit ended the job. What still runs is then deleted whatever cleanPodPolicy says. This
// is read off the message of Failed: the status is written first and later reconciliations delete
// the pods, so that neither a crash nor a refused write in between makes the job run again.
bool HasEndedByLimit(const JobState& state);

}  // namespace reconcile
