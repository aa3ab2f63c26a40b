// Jobs that are over, as the scheduler's forecasts look at them. Pure.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "local/scheduler/past_runs.h"
#include "text/json.h"

namespace local::daemon {

// Nullopt of a job that has never run, or still does. `deleted`: when it was, of one that is gone;
// that ended it, if nothing else had.
std::optional<scheduler::PastRun> ReadPastRun(const text::Json& job,
                                              std::optional<base::Time> deleted);

// By their ends, the earliest first.
void SortByEnd(std::vector<scheduler::PastRun>& runs);

}  // namespace local::daemon
