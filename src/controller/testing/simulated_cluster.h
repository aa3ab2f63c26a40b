// For tests: a small API server, kubelet and garbage collector without threads; the test decides
// each step.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "cluster/client.h"
#include "cluster/transport.h"
#include "text/json.h"
#include "text/patch.h"

namespace controller {

enum class SimKind { kJob, kPod, kService };
inline constexpr std::array<SimKind, 3> kSimKinds = {SimKind::kJob, SimKind::kPod,
                                                     SimKind::kService};

// One namespace, "ns". Versions rise by one with each write, as etcd's revision does.
class SimulatedServer {
 public:
  using Objects = std::map<std::string, text::Json>;

  explicit SimulatedServer(base::Clock& clock) : clock_(clock) {}

  Objects& Of(SimKind kind) { return objects_[static_cast<size_t>(kind)]; }
  // Everything that was sent to watches, from the beginning.
  const std::vector<cluster::WatchEvent>& LogOf(SimKind kind) const {
    return logs_[static_cast<size_t>(kind)];
  }
  int writes() const { return writes_; }
  // Whether a pod's deletion takes a while.
  std::function<bool()> is_graceful = [] { return false; };

  net::HttpResponse Handle(const net::HttpRequest& request);

  // What others than the operator do.
  void CreateJob(text::Json job) { Add(SimKind::kJob, std::move(job)); }
  void Patch(SimKind kind, const std::string& name, const text::Json& patch) {
    text::Json& object = Of(kind).at(name);
    text::MergePatch(object, patch);
    Publish(kind, cluster::WatchEvent::Type::kModified, object);
  }
  void Remove(SimKind kind, const std::string& name) {
    text::Json object = std::move(Of(kind).at(name));
    Of(kind).erase(name);
    Publish(kind, cluster::WatchEvent::Type::kDeleted, object);
  }
  void SetPhase(const std::string& pod, std::string_view phase, int exit_code) {
    text::Object container{{"name", "pytorch"}};
    if (phase == "Succeeded" || phase == "Failed") {
      container["state"] = text::Object{{"terminated", text::Object{{"exitCode", exit_code}}}};
    }
    text::Json patch = text::Object();
    text::Set(patch, {"spec", "nodeName"}, "n");
    text::Set(patch, {"status", "phase"}, text::Json(phase));
    text::Set(patch, {"status", "containerStatuses"}, text::Array{std::move(container)});
    Patch(SimKind::kPod, pod, patch);
  }
  // Requests the deletion of a pod, or requests it once more: it gets a new deletionTimestamp.
  void AskForDeletion(const std::string& pod) {
    text::Json patch = text::Object();
    text::Set(patch, {"metadata", "deletionTimestamp"},
              text::Json(base::FormatRfc3339(clock_.Now())));
    Patch(SimKind::kPod, pod, patch);
  }
  // As `kubectl drain` does it.
  void Evict(const std::string& pod) {
    text::Json condition = text::Object{{"type", "DisruptionTarget"},
                                        {"status", "True"},
                                        {"reason", "EvictionByEvictionAPI"},
                                        {"message", "Eviction API: evicting"}};
    text::Set(condition, {"lastTransitionTime"}, text::Json(base::FormatRfc3339(clock_.Now())));
    text::Json patch = text::Object();
    text::Set(patch, {"status", "conditions"}, text::Array{std::move(condition)});
    Patch(SimKind::kPod, pod, patch);
    AskForDeletion(pod);
  }
  // Deletes the children of deleted jobs.
  void CollectGarbage();

 private:
  static net::HttpResponse Refuse(int status, const char* reason) {
    return {status,
            {},
            text::ToJson(text::Object{{"kind", "Status"},
                                      {"status", "Failure"},
                                      {"reason", reason},
                                      {"message", reason},
                                      {"code", status}})};
  }
  static net::HttpResponse Answer(int status, const text::Json& object) {
    return {status, {}, text::ToJson(object)};
  }
  net::HttpResponse List(SimKind kind) {
    text::Array items;
    for (const auto& [name, object] : Of(kind)) items.push_back(object);
    return Answer(200, text::Object{{"items", std::move(items)}});
  }
  net::HttpResponse Delete(SimKind kind, const std::string& name, const text::Json& options);
  net::HttpResponse PatchJob(const std::string& name, bool is_status, const text::Json& patch);
  net::HttpResponse PatchPod(const std::string& name, const text::Json& patch);
  const text::Json& Add(SimKind kind, text::Json object);
  void Publish(SimKind kind, cluster::WatchEvent::Type type, text::Json& object);
  void CheckPod(const text::Json& pod);
  void CheckJob(const text::Json& job);

  base::Clock& clock_;
  std::array<Objects, 3> objects_;
  std::array<std::vector<cluster::WatchEvent>, 3> logs_;
  std::map<std::string, std::string> finished_;  // uid of a job -> the condition that ended it
  int version_ = 0;
  int writes_ = 0;
};

inline void SimulatedServer::Publish(SimKind kind, cluster::WatchEvent::Type type,
                                     text::Json& object) {
  ++writes_;
  text::Set(object, {"metadata", "resourceVersion"}, text::Json(std::to_string(++version_)));
  if (kind == SimKind::kJob && type != cluster::WatchEvent::Type::kDeleted) CheckJob(object);
  logs_[static_cast<size_t>(kind)].push_back({type, object});
}

inline const text::Json& SimulatedServer::Add(SimKind kind, text::Json object) {
  const std::string name(api::Name(object));
  text::Set(object, {"metadata", "namespace"}, text::Json("ns"));
  text::Set(object, {"metadata", "uid"}, text::Json(fmt::format("u{}", version_ + 1)));
  text::Set(object, {"metadata", "creationTimestamp"},
            text::Json(base::FormatRfc3339(clock_.Now())));
  if (kind == SimKind::kPod) {
    CheckPod(object);
    text::Set(object, {"status", "phase"}, text::Json("Pending"));
  }
  text::Json& stored = Of(kind)[name] = std::move(object);
  Publish(kind, cluster::WatchEvent::Type::kAdded, stored);
  return stored;
}

// At most one pod of a job has each index, and its job exists.
inline void SimulatedServer::CheckPod(const text::Json& pod) {
  const auto place = [](const text::Json& of) {
    return std::string(api::ControllerUid(of)) + "/" +
           std::string(api::Label(of, api::kReplicaTypeLabel)) + "/" +
           std::string(api::Label(of, api::kReplicaIndexLabel));
  };
  for (const auto& [name, other] : Of(SimKind::kPod)) {
    EXPECT_NE(place(other), place(pod)) << name << " and " << api::Name(pod);
  }
}

// A finished job stays finished in the same way; each condition occurs once.
inline void SimulatedServer::CheckJob(const text::Json& job) {
  const text::Json* const stored = text::Find(job, {"status"});
  if (stored == nullptr) return;
  const auto status = api::ParseJobStatus(*stored);
  ASSERT_TRUE(status) << text::ToJson(job);
  EXPECT_FALSE(status->Is("Succeeded") && status->Is("Failed")) << text::ToJson(job);
  std::map<std::string, int> types;
  for (const api::Condition& condition : status->conditions) {
    EXPECT_EQ(++types[condition.type], 1) << text::ToJson(job);
  }
  const std::string end = status->Is("Succeeded") ? "Succeeded"
                          : status->Is("Failed")  ? "Failed"
                                                  : "";
  std::string& before = finished_[std::string(api::Uid(job))];
  if (!before.empty()) {
    EXPECT_EQ(end, before) << text::ToJson(job);
  }
  before = end;
}

inline void SimulatedServer::CollectGarbage() {
  for (const SimKind kind : {SimKind::kPod, SimKind::kService}) {
    std::vector<std::string> orphans;
    for (const auto& [name, child] : Of(kind)) {
      bool has_owner = false;
      for (const auto& [job_name, job] : Of(SimKind::kJob)) {
        has_owner |= api::Uid(job) == api::ControllerUid(child);
      }
      if (!has_owner) orphans.push_back(name);
    }
    for (const std::string& name : orphans) Remove(kind, name);
  }
}

inline net::HttpResponse SimulatedServer::Delete(SimKind kind, const std::string& name,
                                                 const text::Json& options) {
  text::Json& object = Of(kind).at(name);
  const std::string_view uid = text::GetString(options, {"preconditions", "uid"});
  if (!uid.empty() && uid != api::Uid(object)) return Refuse(409, "Conflict");
  if (kind == SimKind::kPod && api::IsDeleting(object)) return Answer(200, object);
  if (kind == SimKind::kPod && is_graceful()) {
    text::Set(object, {"metadata", "deletionTimestamp"},
              text::Json(base::FormatRfc3339(clock_.Now())));
    Publish(kind, cluster::WatchEvent::Type::kModified, object);
    return Answer(200, object);
  }
  Remove(kind, name);
  return Answer(200, text::Object{{"kind", "Status"}, {"status", "Success"}});
}

inline net::HttpResponse SimulatedServer::PatchPod(const std::string& name,
                                                   const text::Json& patch) {
  text::Json& pod = Of(SimKind::kPod).at(name);
  if (text::GetString(patch, {"metadata", "uid"}) != api::Uid(pod)) return Refuse(409, "Conflict");
  text::Json next = pod;
  text::MergePatch(next, patch);
  if (next == pod) return Answer(200, pod);
  pod = std::move(next);
  Publish(SimKind::kPod, cluster::WatchEvent::Type::kModified, pod);
  return Answer(200, pod);
}

inline net::HttpResponse SimulatedServer::PatchJob(const std::string& name, bool is_status,
                                                   const text::Json& patch) {
  text::Json& job = Of(SimKind::kJob).at(name);
  for (const char* const field : {"uid", "resourceVersion"}) {
    const std::string_view wanted = text::GetString(patch, {"metadata", field});
    if (!wanted.empty() && wanted != text::GetString(job, {"metadata", field})) {
      return Refuse(409, "Conflict");
    }
  }
  text::Json next = job;
  text::MergePatch(next, patch);
  // A write of the main resource leaves the status alone, and a write of the status changes nothing
  // else.
  text::Json kept = is_status ? job : next;
  const text::Json* const status = text::Find(is_status ? next : job, {"status"});
  if (status != nullptr) text::Set(kept, {"status"}, *status);
  if (kept == job) return Answer(200, job);
  job = std::move(kept);
  Publish(SimKind::kJob, cluster::WatchEvent::Type::kModified, job);
  return Answer(200, job);
}

inline net::HttpResponse SimulatedServer::Handle(const net::HttpRequest& request) {
  const auto target = net::ParseTarget(request.target);
  std::vector<std::string> steps = target ? target->segments : std::vector<std::string>();
  // api/v1/namespaces/ns/pods..., apis/kubeflow.org/v1/namespaces/ns/pytorchjobs...
  const size_t at = !steps.empty() && steps[0] == "apis" ? 5 : 4;
  if (steps.size() <= at) return Refuse(404, "NotFound");
  const std::string plural = steps[at];
  const std::string name = steps.size() > at + 1 ? steps[at + 1] : "";
  const bool is_status = steps.size() > at + 2;
  if (plural != "pytorchjobs" && plural != "pods" && plural != "services") {
    return Refuse(404, "NotFound");
  }
  const SimKind kind = plural == "pods"       ? SimKind::kPod
                       : plural == "services" ? SimKind::kService
                                              : SimKind::kJob;
  const text::Json body = request.body.empty() ? text::Json() : *text::ParseJson(request.body);
  if (request.method == "POST") {
    if (Of(kind).contains(std::string(api::Name(body)))) return Refuse(409, "AlreadyExists");
    return Answer(201, Add(kind, body));
  }
  if (request.method == "GET" && name.empty()) return List(kind);
  if (!Of(kind).contains(name)) return Refuse(404, "NotFound");
  if (request.method == "GET") return Answer(200, Of(kind).at(name));
  if (request.method == "DELETE") return Delete(kind, name, body);
  if (request.method == "PATCH" && kind == SimKind::kJob) return PatchJob(name, is_status, body);
  if (request.method == "PATCH" && kind == SimKind::kPod) return PatchPod(name, body);
  return Refuse(405, "MethodNotAllowed");
}

}  // namespace controller
