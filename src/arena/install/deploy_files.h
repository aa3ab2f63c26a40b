// The YAML files of deploy/ as they were at build time (cmake/EmbedDeploy.cmake), without the
// definition, which is api::kPyTorchJobDefinition.
#pragma once

#include <string_view>

namespace arena {

extern const std::string_view kDeployRoles;
extern const std::string_view kDeployNamespace;
extern const std::string_view kDeployRbac;
extern const std::string_view kDeployService;
extern const std::string_view kDeployDisruption;
extern const std::string_view kDeployWebhook;
extern const std::string_view kDeployDeployment;
extern const std::string_view kDeployNamespacedRbac;
extern const std::string_view kDeployStatus;
extern const std::string_view kDeployServiceMonitor;

}  // namespace arena
