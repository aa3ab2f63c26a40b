// What Kueue says of a job that it holds.
#pragma once

#include "arena/jobs/jobs.h"
#include "cluster/client.h"

namespace arena {

// Puts behind the reason of a job that waits for its admission what its Workload says of that. As
// it was where Workloads cannot be read.
void AddWordsOfKueue(cluster::Client& client, TrainingJob& job);

}  // namespace arena
