#include "reconcile/children.h"

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "reconcile/node_loss.h"
#include "reconcile/restart_scope.h"
#include "reconcile/suspend.h"

namespace reconcile {
namespace {

Phase ReadPhase(const text::Json& pod) {
  const std::string_view phase = api::Phase(pod);
  if (phase == "Running") return Phase::kRunning;
  if (phase == "Succeeded") return Phase::kSucceeded;
  if (phase == "Failed") return Phase::kFailed;
  return Phase::kPending;
}

struct Labelled {
  Child child;
  std::string_view type;
};

Labelled Read(const text::Json& object, std::string_view uid) {
  Labelled read;
  read.child.object = &object;
  read.child.is_own = IsControlledBy(object, uid);
  const text::Json* const metadata = text::Find(object, {"metadata"});
  if (metadata == nullptr) return read;
  read.child.name = text::GetString(*metadata, {"name"});
  read.child.uid = text::GetString(*metadata, {"uid"});
  read.child.is_terminating = text::Find(*metadata, {"deletionTimestamp"}) != nullptr;
  if (const text::Json* const labels = text::Find(*metadata, {"labels"})) {
    read.type = text::GetString(*labels, {api::kReplicaTypeLabel});
    const auto index = base::ParseInt(text::GetString(*labels, {api::kReplicaIndexLabel}));
    if (index && *index >= 0 && std::in_range<int>(*index)) {
      read.child.index = static_cast<int>(*index);
    }
  }
  return read;
}

Replicas* FindType(Children& children, std::string_view label) {
  if (label == children.master.label) return &children.master;
  if (label == children.worker.label) return &children.worker;
  return nullptr;
}

// If two claim one index, the one with the right name keeps it and the others become strays.
template <typename T>
void SortByIndex(std::vector<T>& children, std::vector<T>& strays, const api::PyTorchJob& job,
                 std::string_view type) {
  const auto by_index = [](const T& a, const T& b) { return a.index < b.index; };
  const auto is_twin = [](const T& a, const T& b) { return a.index == b.index; };
  std::sort(children.begin(), children.end(), by_index);
  auto twin = std::adjacent_find(children.begin(), children.end(), is_twin);
  while (twin != children.end()) {
    const auto next = twin + 1;
    const bool next_is_right = next->name == api::ReplicaName(job.name, type, next->index);
    const auto loser = next_is_right ? twin : next;
    if (loser->is_own) strays.push_back(*loser);
    children.erase(loser);
    twin = std::adjacent_find(children.begin(), children.end(), is_twin);
  }
}

void MarkLoss(Pod& pod, base::Duration patience, const Observed& observed, base::Time now,
              Children& children) {
  const auto loss = LossOf(*pod.object, patience, observed.lost_nodes);
  if (!loss) return;
  if (now < *loss) {
    children.next_loss = std::min(children.next_loss.value_or(*loss), *loss);
    return;
  }
  pod.is_lost = true;
  pod.is_disrupted = true;
  pod.phase = Phase::kFailed;
  pod.is_terminating =
      pod.is_terminating &&
      text::GetInt(*pod.object, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) == 0;
}

void ReadPods(const Observed& observed, const api::PyTorchJob& job, base::Time now,
              Children& children) {
  const auto patience = NodePatience(*observed.job);
  for (const text::Json* const object : observed.pods) {
    const Labelled read = Read(*object, job.uid);
    if (!read.child.is_own) continue;
    Pod pod{read.child, ReadPhase(*object)};
    pod.is_disrupted = api::DisruptionOf(*object).has_value();
    if (patience) MarkLoss(pod, *patience, observed, now, children);
    Replicas* const replicas = FindType(children, read.type);
    pod.is_left_over =
        pod.is_terminating && (IsOfAnEarlierRun(job.status, *object) ||
                               (replicas != nullptr && IsOutdated(job, *replicas, pod)));
    auto& home = replicas != nullptr && pod.index >= 0 ? replicas->pods : children.stray_pods;
    home.push_back(pod);
  }
}

void ReadServices(const Observed& observed, const api::PyTorchJob& job, Children& children) {
  for (const text::Json* const object : observed.services) {
    const Labelled read = Read(*object, job.uid);
    Replicas* const replicas = FindType(children, read.type);
    if (replicas == nullptr || read.child.index < 0) {
      if (read.child.is_own) children.stray_services.push_back(read.child);
      continue;
    }
    if (!read.child.is_own &&
        read.child.name != api::ReplicaName(job.name, replicas->type, read.child.index)) {
      continue;
    }
    replicas->services.push_back(read.child);
  }
}

}  // namespace

std::optional<int> Pod::ExitCode() const { return api::ExitCodeOf(*object, api::kContainerName); }

Children ReadChildren(const Observed& observed, const api::PyTorchJob& job, base::Time now) {
  Children children;
  children.master = {api::kMaster, "master", job.Master(), {}, {}};
  children.worker = {api::kWorker, "worker", job.Worker(), {}, {}};
  ReadPods(observed, job, now, children);
  ReadServices(observed, job, children);
  for (Replicas* const replicas : {&children.master, &children.worker}) {
    SortByIndex(replicas->pods, children.stray_pods, job, replicas->type);
    SortByIndex(replicas->services, children.stray_services, job, replicas->type);
  }
  return children;
}

bool IsControlledBy(const text::Json& object, std::string_view uid) {
  return !uid.empty() && api::ControllerUid(object) == uid;
}

}  // namespace reconcile
