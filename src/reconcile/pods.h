// Which pods a job needs, and how each is built (compat/pytorchjob.md 2.3).
#pragma once

#include <string>
#include <vector>

#include "reconcile/job_state.h"

namespace reconcile {

// The labels by which a replica's pod and service are found.
text::Object ReplicaLabels(const api::PyTorchJob& job, std::string_view label, int index);
// status.replicaStatuses[].selector.
std::string Selector(const api::PyTorchJob& job, std::string_view label);

// core/v1 Pod.
text::Json BuildPod(const JobState& state, const Replicas& replicas, int index);

// The indexes below `wanted` that no child claims, at most `limit` of them. `children` is sorted by
// index.
template <typename T>
std::vector<int> MissingIndexes(const std::vector<T>& children, int32_t wanted, int limit) {
  std::vector<int> missing;
  auto child = children.begin();
  for (int index = 0; index < wanted && static_cast<int>(missing.size()) < limit; ++index) {
    while (child != children.end() && child->index < index) ++child;
    if (child == children.end() || child->index != index) missing.push_back(index);
  }
  return missing;
}

// Creates the missing replicas of each type, a pod and a service for each, and deletes those beyond
// the number of replicas. A child that is being deleted holds its index until it is gone.
void ReconcileReplicas(JobState& state);

}  // namespace reconcile
