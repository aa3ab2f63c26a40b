// What Kubernetes refuses of where a pod may run and how it resolves names, in its words
// (k8s.io/kubernetes, pkg/apis/core/validation). Pure.
#pragma once

#include "local/server/kinds/kind_rules.h"
#include "text/json.h"

namespace local::server {

// Checks spec.tolerations.
void CheckTolerations(const text::Json& pod, Causes& causes);
// Checks the operators of spec.affinity.nodeAffinity.
void CheckNodeAffinity(const text::Json& pod, Causes& causes);
// Checks spec.dnsPolicy.
void CheckDnsPolicy(const text::Json& pod, Causes& causes);

}  // namespace local::server
