// The objects of `muster install`: the files of deploy/, adapted to the options. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace arena {

// Names in deploy/ that are kept.
inline constexpr std::string_view kOperatorName = "muster-operator";
inline constexpr std::string_view kInstallNamespace = "muster-system";
// The default image of the pods: the one that deploy/Dockerfile builds.
inline constexpr std::string_view kInstallImage = "muster:" MUSTER_VERSION;

struct InstallOptions {
  std::string namespace_name{kInstallNamespace};
  std::string image{kInstallImage};
  std::string failure_policy = "Fail";  // of the webhook: Fail or Ignore
  int64_t replicas = 1;
  bool is_namespaced = false;  // serves its own namespace, without permissions in others
  bool is_crd_only = false;
  bool has_monitoring = false;             // also a ServiceMonitor
  bool takes_status_posts = false;         // the operator has a --status-address
  std::vector<std::string> operator_args;  // appended to those of the Deployment
};

// [HOST[:PORT]/]FOLDER/NAME[:TAG][@ALGORITHM:HEX], as registries permit it.
bool IsImageReference(std::string_view text);

// In the order in which they have to be applied. For a namespaced operator without the definition
// of PyTorchJobs, the Namespace and the webhook, which are cluster-wide.
base::Result<std::vector<text::Json>> PlanInstall(const InstallOptions& options);

// The definition of PyTorchJobs and its roles (`--crd-only`), which are kept when the operator is
// removed.
bool IsOfDefinition(const text::Json& object);

// Whether it was created by `muster install` or from deploy/.
bool IsOurs(const text::Json& object);

}  // namespace arena
