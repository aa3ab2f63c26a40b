// Events of a job and of its pods.
#pragma once

#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/jobs.h"
#include "base/clock.h"
#include "cluster/client.h"

namespace arena {

// The events of the job itself and of its pods, oldest first.
base::Result<std::vector<JobEvent>> EventsOf(cluster::Client& client, const Context& context,
                                             const TrainingJob& job, base::Time now);

// Kubelets report only in events why a pod that has a node does not start (a volume that cannot be
// mounted). Adds their latest warning to such instances, and to the reason of a job that has none:
// one request, and none if every pod's status says why. Nor on the embedded cluster, whose pods say
// it themselves. Adds what absent_pods.h adds, too. Unchanged if events cannot be read.
void AddWordsOfEvents(cluster::Client& client, const Context& context, TrainingJob& job);

}  // namespace arena
