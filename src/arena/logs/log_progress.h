// The progress of a job on any cluster: where the cluster does not keep it, as Kubernetes does not,
// it is read from the job's log.
#pragma once

#include <cstdint>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "arena/jobs/progress.h"
#include "arena/logs/event_tail.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// ProgressJson; on Kubernetes with what the last 20,000 lines of a log show, or the last 1,000
// without points. The log is the first instance's; if that shows nothing, the last one's, and then
// the second's. Blocks while logs are read. If the job says where it writes TensorBoard's event
// files (LogdirOf), they are read too, while the instance runs, by `tail`: a caller that looks
// again keeps it between the calls.
text::Json ProgressWithLog(cluster::Client& client, const Context& context, const TrainingJob& job,
                           int64_t points, Times times = Times::kLeftOut,
                           EventTail* tail = nullptr);

}  // namespace arena
