// Computes what a Deployment needs from what exists. Pure. There is no ReplicaSet between a
// Deployment and its pods: on one machine, where pods share the ports, a changed template replaces
// all of them at once (Kubernetes' strategy Recreate), and no older revision is kept for a
// rollback.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "text/json.h"

namespace local::daemon {

// On a Deployment's pods: the hash of the template from which they were made.
inline constexpr std::string_view kTemplateHashLabel = "pod-template-hash";

struct DeploymentPlan {
  std::vector<const text::Json*> remove;  // some of the pods passed in
  std::vector<text::Json> create;         // after the removals; a name may be that of a removed pod
  std::optional<text::Json> status;       // set when it differs from the present one
  std::optional<base::Time> look_again;
};

// `pods` are the ones that the Deployment controls. A pod that has ended is replaced under the same
// name, after a delay that doubles from ten seconds to five minutes with each pod that ends early.
DeploymentPlan PlanDeployment(const text::Json& deployment,
                              const std::vector<const text::Json*>& pods, base::Time now);

}  // namespace local::daemon
