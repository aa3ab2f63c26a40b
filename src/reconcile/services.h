// The headless service of each replica (compat/pytorchjob.md 2.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reconcile/job_state.h"

namespace reconcile {

// core/v1 Service with the name of the pod.
text::Json BuildService(const JobState& state, const Replicas& replicas, int index);

// Every port of the main container as {name, port}. v1 merges ports without a name into one that
// the API server then rejects; here each is named `port-<number>`. A number that occurred before is
// left out, because a service may have it only once.
text::Array ServicePorts(const text::Json& pod_template, std::optional<int> assigned);

// How many replicas of the type, counted from index 0, can have a service: the name of a Service is
// a DNS label of at most 63 characters, while that of a pod may be longer.
int32_t NameableServices(const JobState& state, const Replicas& replicas);
// Why the job cannot start: rank 0 is found through its service, and no service can have its name.
// Nullopt when it can start.
std::optional<std::string> FindNamelessRank0(const JobState& state);

}  // namespace reconcile
