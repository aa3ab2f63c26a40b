// What `muster install` puts on a cluster: the files of deploy/, made to fit. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace arena {

// Names in deploy/, which stay.
inline constexpr std::string_view kOperatorName = "muster-operator";
inline constexpr std::string_view kInstallNamespace = "muster-system";
// Of a pod's image when no other is given: what deploy/Dockerfile says how to build.
inline constexpr std::string_view kInstallImage = "muster:" MUSTER_VERSION;

struct InstallOptions {
  std::string namespace_name{kInstallNamespace};
  std::string image{kInstallImage};
  std::string failure_policy = "Fail";  // of the webhook: Fail or Ignore
  int64_t replicas = 1;
  bool is_namespaced = false;  // serves its own namespace, with rights in no other
  bool is_crd_only = false;
  bool has_monitoring = false;             // a ServiceMonitor too
  std::vector<std::string> operator_args;  // added to those of the Deployment
};

// In the order in which they have to be applied. A namespaced operator's have no definition of
// PyTorchJobs, no Namespace and no webhook: those are the whole cluster's.
base::Result<std::vector<text::Json>> PlanInstall(const InstallOptions& options);

// The definition of PyTorchJobs and the roles that go with it (`--crd-only`), which stay when the
// operator goes.
bool IsOfDefinition(const text::Json& object);

// Made by `muster install` or from deploy/.
bool IsOurs(const text::Json& object);

}  // namespace arena
