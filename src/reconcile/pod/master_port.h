// A port of rank 0 for each job, for jobs whose pods share their nodes' network (hostNetwork): two
// such jobs cannot both use port 23456 on one node.
#pragma once

#include <optional>

#include "api/job/pytorch_job.h"

namespace reconcile {

// Chosen ports lie in [kFirstChosenPort, kFirstChosenPort + kChosenPorts): below NodePorts (30000)
// and below Linux's ephemeral ports (32768).
inline constexpr int kFirstChosenPort = 20'000;
inline constexpr int kChosenPorts = 10'000;

// The port that the job's annotation muster.dev/master-port asks for: a number, or `auto`, which
// derives it from the job's uid so that every caller gets the same one. Nullopt without the
// annotation.
std::optional<int> ChosenMasterPort(const api::PyTorchJob& job);

}  // namespace reconcile
