// A port of rank 0 per job, for jobs whose pods share their nodes' network (hostNetwork): two of
// them on one node cannot both have 23456.
#pragma once

#include <optional>

#include "api/job/pytorch_job.h"

namespace reconcile {

// Chosen ports lie in [kFirstChosenPort, kFirstChosenPort + kChosenPorts): below NodePorts (30000)
// and below what Linux gives out by itself (32768).
inline constexpr int kFirstChosenPort = 20'000;
inline constexpr int kChosenPorts = 10'000;

// As the job's annotation muster.dev/master-port says: a number, or `auto`, one that follows from
// the job's uid, so that it is the same for every asker. Nullopt without it.
std::optional<int> ChosenMasterPort(const api::PyTorchJob& job);

}  // namespace reconcile
