// One headless service a replica (compat/pytorchjob.md 2.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// core/v1 Service of the same name as the pod.
text::Json BuildService(const JobState& state, const Replicas& replicas, int index);

// Every port of the main container as {name, port}. Where v1 lets ports without a name collapse
// into one that the API server then refuses, each is called `port-<number>`; a number that came
// before is left out, because a service may have it once only.
text::Array ServicePorts(const text::Json& pod_template, std::optional<int> assigned);

// A Service's name is a DNS label, of at most 63 characters; a pod's may be longer.
// Of how many replicas of the type the services can have their names: those of the lowest indexes.
int32_t NameableServices(const JobState& state, const Replicas& replicas);
// Why the job can never begin: rank 0 is found by the service of an index 0. Nullopt when it can.
std::optional<std::string> FindNamelessRank0(const JobState& state);

}  // namespace reconcile
