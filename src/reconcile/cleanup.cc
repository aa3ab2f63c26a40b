#include "reconcile/cleanup.h"

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

bool Stays(const Pod& pod, api::CleanPodPolicy policy) {
  if (policy == api::CleanPodPolicy::kAll) return false;
  return pod.phase == Phase::kSucceeded || pod.phase == Phase::kFailed;
}

void DeleteUnlessGoing(JobState& state, const api::Resource& resource, const Child& child) {
  if (!child.is_own || child.is_terminating) return;
  state.plan.writes.push_back(DeleteChild(resource, child));
}

bool HasPodThatStays(const Replicas& replicas, const Child& service, api::CleanPodPolicy policy) {
  const auto pod =
      std::lower_bound(replicas.pods.begin(), replicas.pods.end(), service.index,
                       [](const Pod& candidate, int index) { return candidate.index < index; });
  return pod != replicas.pods.end() && pod->index == service.index && Stays(*pod, policy);
}

void DeleteReplicas(JobState& state, const Replicas& replicas, api::CleanPodPolicy policy) {
  for (const Pod& pod : replicas.pods) {
    if (!Stays(pod, policy)) DeleteUnlessGoing(state, api::kPods, pod);
  }
  for (const Child& service : replicas.services) {
    if (!HasPodThatStays(replicas, service, policy)) {
      DeleteUnlessGoing(state, api::kServices, service);
    }
  }
}

void EndUnlessEnding(JobState& state, const Pod& pod) {
  if (!pod.is_own || pod.is_terminating) return;
  if (pod.phase == Phase::kSucceeded || pod.phase == Phase::kFailed) return;
  if (api::NodeName(*pod.object).empty()) {
    state.plan.writes.push_back(DeleteChild(api::kPods, pod));
  } else if (api::Annotation(*pod.object, api::kEndAnnotation).empty()) {
    state.plan.writes.push_back(EndPod(state.job, pod));
  }
}

}  // namespace

void DeleteChildren(JobState& state, api::CleanPodPolicy policy) {
  if (policy != api::CleanPodPolicy::kAll && policy != api::CleanPodPolicy::kRunning) return;
  for (const Replicas* const replicas : state.Types()) DeleteReplicas(state, *replicas, policy);
  for (const Pod& pod : state.children.stray_pods) {
    if (!Stays(pod, policy)) DeleteUnlessGoing(state, api::kPods, pod);
  }
  if (policy != api::CleanPodPolicy::kAll) return;
  for (const Child& service : state.children.stray_services) {
    DeleteUnlessGoing(state, api::kServices, service);
  }
}

void EndPods(JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    for (const Pod& pod : replicas->pods) EndUnlessEnding(state, pod);
  }
  for (const Pod& pod : state.children.stray_pods) EndUnlessEnding(state, pod);
}

}  // namespace reconcile
