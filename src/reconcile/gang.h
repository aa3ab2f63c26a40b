// Gang scheduling through a PodGroup (compat/pytorchjob.md 2.11).
#pragma once

#include <string>
#include <string_view>

#include "reconcile/job_state.h"

namespace reconcile {

// Creates the PodGroup, or updates it when its spec differs. Returns whether pods have to wait
// because Volcano has not admitted the group yet.
bool HasToWaitForPodGroup(JobState& state);

// Emits the two events that announce the deletion, too.
void DeletePodGroup(JobState& state);

// Sets the pod's scheduler name and its group. Does nothing when gang scheduling is off.
void DecorateForGang(const JobState& state, const Replicas& replicas, text::Json& pod);

// Whether any template names a scheduler that is not the gang's.
bool HasOtherScheduler(const api::PyTorchJob& job, const Options& options);

// What `min_member` pods request, container by container (the limits where there are no requests).
// Types of higher priority come first, and Master before Worker where priorities are equal.
text::Object MinResources(const JobState& state, int32_t min_member);

}  // namespace reconcile
