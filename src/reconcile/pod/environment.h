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

// Variables of muster-launch that are injected before the user's own, so that theirs win;
// Kubeflow's operator has none of them. The token by which the nodes of a job authenticate each
// other (docs/formats/rendezvous.md), which is derived from the job's uid: only users who may read
// the job know it. And the pod's grace period, where `template_spec` sets one.
text::Array EnvironmentBefore(const api::PyTorchJob& job, const text::Json& template_spec);

// The variables of an elastic policy; empty without one.
text::Array ElasticEnvironment(const api::PyTorchJob& job, std::optional<int> master_port);

}  // namespace reconcile
