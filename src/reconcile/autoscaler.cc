#include "reconcile/autoscaler.h"

#include <string_view>
#include <utility>

#include "api/object.h"
#include "reconcile/json_compare.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

bool WantsAutoscaler(const api::PyTorchJob& job) {
  return job.elastic_policy && job.elastic_policy->metrics &&
         job.elastic_policy->metrics->is_array();
}

text::Object BuildSpec(const api::PyTorchJob& job) {
  const api::ElasticPolicy& elastic = *job.elastic_policy;
  text::Object target;
  target["kind"] = api::kPyTorchJobs.kind;
  target["name"] = job.name;
  target["apiVersion"] = api::kPyTorchJobs.api_version();
  text::Object spec;
  spec["scaleTargetRef"] = std::move(target);
  if (elastic.min_replicas) spec["minReplicas"] = *elastic.min_replicas;
  if (elastic.max_replicas) spec["maxReplicas"] = *elastic.max_replicas;
  spec["metrics"] = *elastic.metrics;
  return spec;
}

text::Json BuildAutoscaler(const api::PyTorchJob& job) {
  text::Object metadata;
  metadata["name"] = job.name;
  metadata["namespace"] = job.namespace_name;
  metadata["ownerReferences"] = OwnerReferences(job);
  text::Object autoscaler;
  autoscaler["apiVersion"] = api::kHorizontalPodAutoscalers.api_version();
  autoscaler["kind"] = api::kHorizontalPodAutoscalers.kind;
  autoscaler["metadata"] = std::move(metadata);
  autoscaler["spec"] = BuildSpec(job);
  return autoscaler;
}

// Fields that we do not write, such as `behavior`, belong to somebody else.
bool IsAsWanted(const text::Json& existing, const text::Object& spec) {
  for (const auto& [key, value] : spec) {
    if (!IsSameValue(&value, text::Find(existing, {"spec", std::string_view(key)}))) return false;
  }
  return true;
}

}  // namespace

void ReconcileAutoscaler(JobState& state) {
  if (!WantsAutoscaler(state.job)) return DeleteAutoscaler(state);
  const text::Json* const existing = state.observed.autoscaler;
  if (existing == nullptr) {
    state.plan.writes.push_back(Create(api::kHorizontalPodAutoscalers, BuildAutoscaler(state.job)));
    return;
  }
  if (!IsControlledBy(*existing, state.job.uid)) return;
  if (api::IsDeleting(*existing)) return;
  text::Object spec = BuildSpec(state.job);
  if (IsAsWanted(*existing, spec)) return;
  text::Json next = *existing;
  for (auto& [key, value] : spec) {
    text::Set(next, {"spec", std::string_view(key)}, std::move(value));
  }
  state.plan.writes.push_back(Update(api::kHorizontalPodAutoscalers, std::move(next)));
}

void DeleteAutoscaler(JobState& state) {
  const text::Json* const existing = state.observed.autoscaler;
  if (existing == nullptr || !IsControlledBy(*existing, state.job.uid)) return;
  if (api::IsDeleting(*existing)) return;
  state.plan.writes.push_back(Delete(api::kHorizontalPodAutoscalers, *existing));
}

}  // namespace reconcile
