// How far jobs are, as the embedded cluster's daemon knows it (local/daemon/progress).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "cluster/client.h"
#include "runs/progress/source_progress.h"
#include "text/json.h"

namespace arena {

// The last of each source, the newest first; empty where nothing is known, on another cluster, or
// when the daemon is older.
std::vector<runs::SourceProgress> ProgressOf(cluster::Client& client, const Context& context,
                                             std::string_view job_uid);
// Of the jobs that run, by uid.
std::map<std::string, std::vector<runs::SourceProgress>> ProgressOfRunning(cluster::Client& client,
                                                                           const Context& context);

// What the daemon keeps of a run's scalars, with at most `points` values of each
// (docs/reference/json.md, "progress"); null where nothing is kept.
text::Json ProgressJson(cluster::Client& client, const Context& context, std::string_view job_uid,
                        int64_t points);

text::Json SourcesToJson(const std::vector<runs::SourceProgress>& sources);

// "step 120/1000 (12%), loss 0.51 (log of train-master-0)", and a line for each source that says
// otherwise; empty when nothing is known.
std::vector<std::string> ProgressLines(const std::vector<runs::SourceProgress>& sources);

}  // namespace arena
