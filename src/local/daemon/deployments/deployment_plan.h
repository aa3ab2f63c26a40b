// What a Deployment asks for, from what exists. Pure. There is no ReplicaSet between it and its
// pods: on one machine, where pods share the ports, a changed template replaces all of them at once
// (Kubernetes' strategy Recreate), and no older revision is kept to go back to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "text/json.h"

namespace local::daemon {

// On a Deployment's pods: which version of the template they are of.
inline constexpr std::string_view kTemplateHashLabel = "pod-template-hash";

struct DeploymentPlan {
  std::vector<const text::Json*> remove;  // of the pods given
  std::vector<text::Json> create;         // after those; a name may be of one that is removed
  std::optional<text::Json> status;       // when it is not the one that it has
  std::optional<base::Time> look_again;
};

// `pods`: the ones that the Deployment controls. A pod that has ended is replaced under its name,
// after a wait that doubles from ten seconds to five minutes with each one that ends early.
DeploymentPlan PlanDeployment(const text::Json& deployment,
                              const std::vector<const text::Json*>& pods, base::Time now);

}  // namespace local::daemon
