// What the reconciler reads from a pod template.
#pragma once

#include <optional>

#include "text/json.h"

namespace reconcile {

// The main container's `pytorchjob-port`; nullopt when it declares none.
std::optional<int> DeclaredPort(const text::Json& pod_template);

// The number of `pytorchjob-port`: `assigned` when the cluster assigns a port for each job,
// otherwise the main container's, otherwise 23456.
int JobPort(const text::Json& pod_template, std::optional<int> assigned);

}  // namespace reconcile
