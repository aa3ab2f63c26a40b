// Finished jobs, in the form that the scheduler's forecasts use. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "local/scheduler/past_runs.h"
#include "text/json.h"

namespace local::daemon {

// Nullopt for a job that has never run, or still does. `deleted`: when it was deleted, which ended
// it if nothing else had.
std::optional<scheduler::PastRun> ReadPastRun(const text::Json& job,
                                              std::optional<base::Time> deleted);

// Sorts by their ends, the earliest first.
void SortByEnd(std::vector<scheduler::PastRun>& runs);

}  // namespace local::daemon
