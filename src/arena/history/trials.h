// The trials of a sweep, wherever it ran.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/listing/records.h"
#include "arena/run/sweep_table.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// `folder` is the run's on this machine ("" for none).
bool HasTrials(const RunRecord& run, const std::string& folder);

// On this machine returns all trials, from the files in `folder`; on another cluster those that
// have ended, from the log of the sweep's instance. kNotFound when the log is gone. Blocks.
base::Result<std::vector<TrialRow>> TrialsOf(cluster::Client& client, const RunRecord& run,
                                             const std::string& folder);

}  // namespace arena
