// Kueue's reason for holding a job.
#pragma once

#include "arena/jobs/jobs.h"
#include "cluster/client.h"

namespace arena {

// Appends the Workload's message to the reason of a job that waits for admission. Unchanged if
// Workloads cannot be read.
void AddWordsOfKueue(cluster::Client& client, TrainingJob& job);

}  // namespace arena
