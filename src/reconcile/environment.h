// The environment that a pod's containers are given (spec/pytorchjob-operator.md 2.3).
#pragma once

#include <optional>
#include <string_view>

#include "api/pytorch_job.h"
#include "text/json.h"

namespace reconcile {

// core/v1 EnvVars in the order in which they are injected, after the user's own. `job` has its
// defaults, `master_port` is the cluster's assignment if it makes one.
text::Array Environment(const api::PyTorchJob& job, std::string_view type, int index,
                        std::optional<int> master_port);

// The part that an elastic policy adds; empty without one.
text::Array ElasticEnvironment(const api::PyTorchJob& job, std::optional<int> master_port);

}  // namespace reconcile
