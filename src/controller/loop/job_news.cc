// The part of JobWorker that handles watch events.
#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "api/object.h"
#include "api/resources.h"
#include "controller/loop/job_worker.h"

namespace controller {
namespace {

int32_t PriorityValue(const text::Json& priority_class) {
  return static_cast<int32_t>(text::GetInt(priority_class, {"value"}).value_or(0));
}

std::string ClassName(const text::Json& priority_class) {
  return std::string(text::GetString(priority_class, {"metadata", "name"}));
}

// Pods of a job change together: one reconciliation sees all changes that come within this time of
// the first.
constexpr std::chrono::milliseconds kChildRest{50};

constexpr std::string_view kNodeLeases = "kube-node-lease";
// Kubernetes calls a node Unknown when its kubelet has been silent for 50 s by default. An older
// Lease has the time of a wrong clock.
constexpr std::chrono::seconds kLongestSilence{60};

// Since when Kubernetes has called the node Unknown.
std::optional<base::Time> LostSince(const text::Json& node) {
  const text::Json* const ready = api::FindCondition(node, "Ready");
  if (ready == nullptr || text::GetString(*ready, {"status"}) != "Unknown") return std::nullopt;
  return api::GetTime(*ready, {"lastTransitionTime"});
}

}  // namespace

void JobWorker::Enqueue(const std::string& key) {
  if (!key.empty()) queue_.Add(key);
}

void JobWorker::PutJob(text::Json job) { Enqueue(cache_.PutJob(std::move(job))); }

void JobWorker::KeepJobs(const std::vector<text::Json>& keys) {
  for (const std::string& uid : cache_.KeepJobs(keys)) LetGo(uid);
  // A job that another one waited for may be gone.
  for (const auto& [awaited, waiting] : std::exchange(*waiting_.Lock(), {})) {
    for (const std::string& key : waiting) Enqueue(key);
  }
}

// The job is deleted, and no longer in the cache: a worker that still has it will drop it, too.
void JobWorker::LetGo(const std::string& uid) {
  if (options_.release_master_port) options_.release_master_port(uid);
  if (options_.job_deleted) options_.job_deleted(uid);
  autoscaled_.Lock()->erase(uid);
  announced_.Lock()->erase(uid);
}

void JobWorker::LetGoIfGone(const std::string& key, const text::Json& job) {
  const std::string uid(api::Uid(job));
  if (!cache_.IsThere(key, uid)) LetGo(uid);
}

void JobWorker::TakeJob(cluster::WatchEvent event) {
  if (event.type != cluster::WatchEvent::Type::kDeleted) {
    return PutJob(std::move(event.object));
  }
  const std::string key = JobKey(event.object);
  Enqueue(cache_.RemoveJob(event.object));
  LetGo(std::string(api::Uid(event.object)));
  WakeWaiting(key);
}

void JobWorker::PutChild(ChildKind kind, text::Json child) {
  Enqueue(cache_.PutChild(kind, std::move(child)));
}

void JobWorker::KeepChildren(ChildKind kind, const std::vector<text::Json>& keys) {
  for (const std::string& key : cache_.KeepChildren(kind, keys)) Enqueue(key);
}

void JobWorker::TakeChild(ChildKind kind, cluster::WatchEvent event) {
  const std::string key = event.type == cluster::WatchEvent::Type::kDeleted
                              ? cache_.RemoveChild(kind, event.object)
                              : cache_.PutChild(kind, std::move(event.object));
  if (key.empty()) return;
  if (options_.is_operator) {
    queue_.AddAfter(key, kChildRest);
  } else {
    queue_.Add(key);
  }
}

void JobWorker::ReplacePriorities(const std::vector<text::Json>& classes) {
  auto priorities = priorities_.Lock();
  priorities->clear();
  for (const text::Json& one : classes) (*priorities)[ClassName(one)] = PriorityValue(one);
}

void JobWorker::TakePriority(const cluster::WatchEvent& event) {
  auto priorities = priorities_.Lock();
  if (event.type == cluster::WatchEvent::Type::kDeleted) {
    priorities->erase(ClassName(event.object));
  } else {
    (*priorities)[ClassName(event.object)] = PriorityValue(event.object);
  }
}

base::Time JobWorker::LastHeard(const std::string& node, base::Time unknown_since) {
  {
    auto lost = lost_nodes_.Lock();
    if (const auto known = lost->find(node); known != lost->end()) return known->second;
  }
  const auto lease = client_.Get(api::kLeases, kNodeLeases, node);
  const auto renewed = lease ? api::GetTime(*lease, {"spec", "renewTime"}) : std::nullopt;
  if (!renewed) return unknown_since;
  return std::clamp<base::Time>(*renewed, unknown_since - kLongestSilence, unknown_since);
}

void JobWorker::SetLost(const std::string& node, std::optional<base::Time> since) {
  {
    auto lost = lost_nodes_.Lock();
    const auto known = lost->find(node);
    if (known != lost->end() ? since == known->second : !since) return;
    if (since) {
      (*lost)[node] = *since;
    } else {
      lost->erase(known);
    }
  }
  for (const std::string& key : cache_.KeysOnNode(node)) Enqueue(key);
}

void JobWorker::ReplaceNodes(const std::vector<text::Json>& nodes) {
  std::map<std::string, base::Time> gone = *lost_nodes_.Lock();
  for (const text::Json& node : nodes) {
    const std::string name(api::Name(node));
    gone.erase(name);
    HearOfNode(name, node);
  }
  for (const auto& [name, since] : gone) SetLost(name, std::nullopt);
}

void JobWorker::TakeNode(const cluster::WatchEvent& event) {
  const bool is_deleted = event.type == cluster::WatchEvent::Type::kDeleted;
  const std::string name(api::Name(event.object));
  // Kubernetes itself removes the pods of a deleted node.
  if (is_deleted) return SetLost(name, std::nullopt);
  HearOfNode(name, event.object);
}

void JobWorker::HearOfNode(const std::string& name, const text::Json& node) {
  auto since = LostSince(node);
  if (since) since = LastHeard(name, *since);
  SetLost(name, since);
}

}  // namespace controller
