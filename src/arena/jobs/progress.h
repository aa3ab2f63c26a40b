// The progress of jobs: from the embedded cluster's daemon (local/daemon/progress), and on
// Kubernetes from what the operator has noted of their posts (api::kProgressAnnotation).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "cluster/client.h"
#include "runs/progress/source_progress.h"
#include "text/json.h"

namespace arena {

// The latest of each source, newest first; empty if nothing is known, and with an older daemon.
std::vector<runs::SourceProgress> ProgressOf(cluster::Client& client, const Context& context,
                                             const text::Json& job);
// The running jobs' progress, by uid; on Kubernetes of `jobs`.
std::map<std::string, std::vector<runs::SourceProgress>> ProgressOfRunning(
    cluster::Client& client, const Context& context, const std::vector<TrainingJob>& jobs);

// A run's scalars, with at most `points` values of each (docs/reference/json.md, "progress"); null
// if there are none. On Kubernetes without earlier values.
enum class Times { kLeftOut, kGiven };  // of steps, checkpoints and waits, which reports need
text::Json ProgressJson(cluster::Client& client, const Context& context, const text::Json& job,
                        int64_t points, Times times = Times::kLeftOut);

// The latest of each source in what ProgressJson returns. Pure.
std::vector<runs::SourceProgress> SourcesIn(const text::Json& json);

// In the annotation of a job; an empty array without one. Pure.
text::Array AnnotatedProgress(const text::Json& job);

// What each rank of a run used over time (docs/reference/json.md, "ranks over time"), in at most
// `columns`; null where it is not known.
text::Json RanksOverTime(cluster::Client& client, const Context& context, std::string_view job_uid,
                         int64_t columns);

text::Json SourcesToJson(const std::vector<runs::SourceProgress>& sources);

// "step 120/1000 (12%), loss 0.51 (log of train-master-0)", and a line for each source that
// disagrees; empty if nothing is known.
std::vector<std::string> ProgressLines(const std::vector<runs::SourceProgress>& sources);

}  // namespace arena
