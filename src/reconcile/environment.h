// The environment that a pod's containers are given (compat/pytorchjob.md 2.3).
#pragma once

#include <optional>
#include <string_view>

#include "api/job/pytorch_job.h"
#include "text/json.h"

namespace reconcile {

// core/v1 EnvVars in the order in which they are injected, after the user's own. `job` has its
// defaults, `master_port` is the cluster's assignment if it makes one.
text::Array Environment(const api::PyTorchJob& job, std::string_view type, int index,
                        std::optional<int> master_port);

// What stands before the user's own, which so is the one that holds: the token by which the nodes
// of a job know each other when muster-launch starts their ranks (docs/formats/rendezvous.md). Only
// who may read the job knows its uid. Kubeflow's operator has nothing like it.
text::Array EnvironmentBefore(const api::PyTorchJob& job);

// The part that an elastic policy adds; empty without one.
text::Array ElasticEnvironment(const api::PyTorchJob& job, std::optional<int> master_port);

}  // namespace reconcile
