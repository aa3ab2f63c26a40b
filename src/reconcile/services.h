// One headless service a replica (spec/pytorchjob-operator.md 2.4).
#pragma once

#include "reconcile/pass.h"

namespace reconcile {

// core/v1 Service of the same name as the pod.
text::Json BuildService(const Pass& pass, const Replicas& replicas, int index);

// Every port of the main container as {name, port}. Where v1 lets ports without a name collapse
// into one that the API server then refuses, each is called `port-<number>`; a number that came
// before is left out, because a service may have it once only.
text::Array ServicePorts(const text::Json& pod_template, std::optional<int> assigned);

}  // namespace reconcile
