// Why a job lacks pods, where only its events tell it.
#pragma once

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "cluster/client.h"

namespace arena {

// Adds to a job that has no reason that a pod or service of another owner has the name of one that
// it needs; and to one that has failed, whose pods are gone and whose message is Kubeflow's alone,
// which of them ended with which exit code. At most three requests, and none for other jobs.
// Unchanged if events, or that service, cannot be read.
void AddWordsOfAbsentPods(cluster::Client& client, TrainingJob& job);

// Adds to a job that runs, or waits for nothing that is known, and has no reason how the last pod
// ended that was replaced. One request. To be called after what adds reasons.
void AddWordsOfReplacedPods(cluster::Client& client, TrainingJob& job);

}  // namespace arena
