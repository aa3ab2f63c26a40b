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

void DeleteUnlessGoing(Pass& pass, const api::Resource& resource, const Child& child) {
  if (!child.is_own || child.is_terminating) return;
  pass.plan.writes.push_back(DeleteChild(resource, child));
}

bool HasPodThatStays(const Replicas& replicas, const Child& service, api::CleanPodPolicy policy) {
  const auto pod =
      std::lower_bound(replicas.pods.begin(), replicas.pods.end(), service.index,
                       [](const Pod& candidate, int index) { return candidate.index < index; });
  return pod != replicas.pods.end() && pod->index == service.index && Stays(*pod, policy);
}

void DeleteReplicas(Pass& pass, const Replicas& replicas, api::CleanPodPolicy policy) {
  for (const Pod& pod : replicas.pods) {
    if (!Stays(pod, policy)) DeleteUnlessGoing(pass, api::kPods, pod);
  }
  for (const Child& service : replicas.services) {
    if (!HasPodThatStays(replicas, service, policy)) {
      DeleteUnlessGoing(pass, api::kServices, service);
    }
  }
}

void EndUnlessEnding(Pass& pass, const Pod& pod) {
  if (!pod.is_own || pod.is_terminating) return;
  if (pod.phase == Phase::kSucceeded || pod.phase == Phase::kFailed) return;
  if (api::NodeName(*pod.object).empty()) {
    pass.plan.writes.push_back(DeleteChild(api::kPods, pod));
  } else if (api::Annotation(*pod.object, api::kEndAnnotation).empty()) {
    pass.plan.writes.push_back(EndPod(pass.job, pod));
  }
}

}  // namespace

void DeleteChildren(Pass& pass, api::CleanPodPolicy policy) {
  if (policy != api::CleanPodPolicy::kAll && policy != api::CleanPodPolicy::kRunning) return;
  for (const Replicas* const replicas : pass.Types()) DeleteReplicas(pass, *replicas, policy);
  for (const Pod& pod : pass.children.stray_pods) {
    if (!Stays(pod, policy)) DeleteUnlessGoing(pass, api::kPods, pod);
  }
  if (policy != api::CleanPodPolicy::kAll) return;
  for (const Child& service : pass.children.stray_services) {
    DeleteUnlessGoing(pass, api::kServices, service);
  }
}

void EndPods(Pass& pass) {
  for (const Replicas* const replicas : pass.Types()) {
    for (const Pod& pod : replicas->pods) EndUnlessEnding(pass, pod);
  }
  for (const Pod& pod : pass.children.stray_pods) EndUnlessEnding(pass, pod);
}

}  // namespace reconcile
