// The environment variables of a pod's containers (compat/pytorchjob.md 2.3).
#pragma once

#include <optional>
#include <string_view>

#include "api/job/pytorch_job.h"
#include "text/json.h"

namespace reconcile {

// core/v1 EnvVars in the order in which they are injected, after the user's own. `job` has its
// defaults; `master_port` is set when the cluster assigns a port.
text::Array Environment(const api::PyTorchJob& job, std::string_view type, int index,
                        std::optional<int> master_port);

// The variables that are injected before the user's own, so that the user's win: the token by which
// the nodes of a job authenticate each other when muster-launch starts their ranks
// (docs/formats/rendezvous.md). It is derived from the job's uid, which only users who may read the
// job know. Kubeflow's operator has no such variable.
text::Array EnvironmentBefore(const api::PyTorchJob& job);

// The variables of an elastic policy; empty without one.
text::Array ElasticEnvironment(const api::PyTorchJob& job, std::optional<int> master_port);

}  // namespace reconcile
