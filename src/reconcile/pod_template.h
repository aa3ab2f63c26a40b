// What the reconciler reads out of a pod template.
#pragma once

#include <optional>

#include "text/json.h"

namespace reconcile {

// The container `pytorch`, or the first one when none is called so; nullptr without containers.
const text::Json* MainContainer(const text::Json& pod_template);
text::Json* MainContainer(text::Json& pod_template);

// The number of `pytorchjob-port`: `assigned` when the cluster gives one per job, else what the
// main container says, else 23456.
int JobPort(const text::Json& pod_template, std::optional<int> assigned);

}  // namespace reconcile
