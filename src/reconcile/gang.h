// Gang scheduling through a PodGroup (compat/pytorchjob.md 2.11).
#pragma once

#include <string>
#include <string_view>

#include "reconcile/job_state.h"

namespace reconcile {

// Makes the PodGroup, or updates it when its spec differs. Returns whether pods have to wait:
// Volcano has not admitted the group yet.
bool HasToWaitForPodGroup(JobState& state);

// With the two events that announce it.
void DeletePodGroup(JobState& state);

// Scheduler name and membership of a pod. Nothing when gang scheduling is off.
void DecorateForGang(const JobState& state, const Replicas& replicas, text::Json& pod);

// Whether any template names a scheduler that is not the gang's.
bool HasOtherScheduler(const api::PyTorchJob& job, const Options& options);

// What `min_member` pods ask for, container by container (limits where there are no requests), the
// types with the highest priority first and Master before Worker among equals.
text::Object MinResources(const JobState& state, int32_t min_member);

}  // namespace reconcile
