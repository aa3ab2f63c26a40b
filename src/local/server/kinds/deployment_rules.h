// What the server itself decides about a Deployment: Kubernetes' defaults and checks. Pure.
#pragma once

#include <string>
#include <vector>

#include "text/json.h"

namespace local::server {

void SetDeploymentDefaults(text::Json& deployment);
// Texts of what Kubernetes would refuse; empty when it is fine.
std::vector<std::string> DeploymentCauses(const text::Json& deployment);

}  // namespace local::server
