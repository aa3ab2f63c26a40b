// What Kubernetes refuses in a pod's containers, in its words (k8s.io/kubernetes,
// pkg/apis/core/validation). Pure.
#pragma once

#include <string_view>

#include "local/server/kinds/kind_rules.h"
#include "text/json.h"

namespace local::server {

// Checks spec.volumes: names, and that each has one type with what that needs.
void CheckVolumes(const text::Json& pod, Causes& causes);
// Checks spec.containers (`list`: "containers") or spec.initContainers: names, images, ports,
// variables, mounts, pull policies and resources. Quantities are printed as they were written, not
// in their shortest form.
void CheckContainers(const text::Json& pod, std::string_view list, Causes& causes);

}  // namespace local::server
