// The progress of a job on any cluster: where the cluster does not keep it, as Kubernetes does not,
// its log tells it.
#pragma once

#include <cstdint>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "arena/jobs/progress.h"
#include "arena/logs/event_tail.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// ProgressJson; on Kubernetes with what a log tells, of its last 20,000 lines; without points of
// the last 1,000. The log is that of the first instance; if it tells nothing the last one's, else
// the second's. Blocks while logs are read.
// If it says where it writes TensorBoard's event files (LogdirOf), they are read too, while the
// instance runs: by `tail`, which a caller keeps who looks again.
text::Json ProgressWithLog(cluster::Client& client, const Context& context, const TrainingJob& job,
                           int64_t points, Times times = Times::kLeftOut,
                           EventTail* tail = nullptr);

}  // namespace arena
