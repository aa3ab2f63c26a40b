#include "controller/loop/projection.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "controller/loop/object_packing.h"
#include "text/projection.h"

namespace controller {
namespace {

using Keys = std::initializer_list<std::string_view>;

// Marks a packed job: no field of a Kubernetes object has such a name.
constexpr std::string_view kPacked = "#packed";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// The values at `keys`, as far as they exist; the result has no spare capacity.
text::Object Pick(const text::Object& from, Keys keys) {
  size_t count = 0;
  for (const std::string_view key : keys) count += from.contains(key) ? 1 : 0;
  text::Object kept;
  kept.reserve(count);
  for (const std::string_view key : keys) {
    if (const text::Json* const value = from.if_contains(key)) kept[key] = *value;
  }
  return kept;
}

// The same, moved out of `from`.
text::Object Take(text::Object& from, Keys keys) {
  size_t count = 0;
  for (const std::string_view key : keys) count += from.contains(key) ? 1 : 0;
  text::Object kept;
  kept.reserve(count);
  for (const std::string_view key : keys) {
    if (text::Json* const value = from.if_contains(key)) kept[key] = std::move(*value);
  }
  return kept;
}

void PutUnlessEmpty(text::Object& object, std::string_view key, text::Object value) {
  if (!value.empty()) object[key] = std::move(value);
}

text::Object MetadataOf(const text::Json& object) {
  const text::Object* const metadata = text::FindObject(object, {"metadata"});
  if (metadata == nullptr) return {};
  text::Object kept =
      Pick(*metadata, {"name", "namespace", "uid", "resourceVersion", "creationTimestamp",
                       "deletionTimestamp", "deletionGracePeriodSeconds"});
  PutUnlessEmpty(kept, "labels",
                 Pick(text::Members(object, {"metadata", "labels"}),
                      {api::kOperatorNameLabel, api::kJobNameLabel, api::kReplicaTypeLabel,
                       api::kReplicaIndexLabel}));
  PutUnlessEmpty(kept, "annotations",
                 Pick(text::Members(object, {"metadata", "annotations"}),
                      {api::kMasterPortAnnotation, api::kRestartsAnnotation, api::kRunAnnotation,
                       api::kEndAnnotation}));
  if (const text::Json* const owner = api::ControllerReference(object)) {
    text::Array owners;
    owners.emplace_back(Pick(owner->get_object(), {"uid", "controller"}));
    kept["ownerReferences"] = std::move(owners);
  }
  return kept;
}

text::Array StatusesOf(const text::Array& statuses) {
  text::Array kept;
  kept.reserve(statuses.size());
  for (const text::Json& status : statuses) {
    const text::Object* const object = status.if_object();
    if (object == nullptr) continue;
    text::Object one = Pick(*object, {"name", "restartCount", "state", "lastState"});
    const auto is_empty = [&one](std::string_view key) {
      const text::Json* const value = one.if_contains(key);
      return value != nullptr && value->is_object() && value->get_object().empty();
    };
    for (const std::string_view key : {"state", "lastState"}) {
      if (is_empty(key)) one.erase(key);
    }
    kept.emplace_back(std::move(one));
  }
  return kept;
}

bool HasWaiting(const text::Array& statuses) {
  return std::any_of(statuses.begin(), statuses.end(), [](const text::Json& status) {
    return text::Find(status, {"state", "waiting"}) != nullptr;
  });
}

text::Object StatusOf(const text::Json& pod) {
  const text::Object* const status = text::FindObject(pod, {"status"});
  if (status == nullptr) return {};
  text::Object kept = Pick(*status, {"phase", "reason", "message", "startTime"});
  bool needs_conditions = true;
  for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
    const text::Json* const value = status->if_contains(list);
    if (value == nullptr || !value->is_array() || value->get_array().empty()) continue;
    kept[list] = StatusesOf(value->get_array());
    needs_conditions = HasWaiting(value->get_array());
  }
  // Conditions describe a pod whose containers have not started, and date its problems.
  const text::Json* const conditions = status->if_contains("conditions");
  if (needs_conditions && conditions != nullptr) {
    kept["conditions"] = *conditions;
  } else if (const text::Json* const disruption = api::DisruptionCondition(pod)) {
    kept["conditions"] = text::Array{*disruption};
  }
  return kept;
}

const text::Projection& ChildParts() {
  static const text::Projection kParts{{"kind"},
                                       {"metadata", "name"},
                                       {"metadata", "namespace"},
                                       {"metadata", "uid"},
                                       {"metadata", "resourceVersion"},
                                       {"metadata", "creationTimestamp"},
                                       {"metadata", "deletionTimestamp"},
                                       {"metadata", "deletionGracePeriodSeconds"},
                                       {"metadata", "labels", api::kOperatorNameLabel},
                                       {"metadata", "labels", api::kJobNameLabel},
                                       {"metadata", "labels", api::kReplicaTypeLabel},
                                       {"metadata", "labels", api::kReplicaIndexLabel},
                                       {"metadata", "annotations", api::kMasterPortAnnotation},
                                       {"metadata", "annotations", api::kRestartsAnnotation},
                                       {"metadata", "annotations", api::kRunAnnotation},
                                       {"metadata", "annotations", api::kEndAnnotation},
                                       {"metadata", "ownerReferences"}};
  return kParts;
}

}  // namespace

void ProjectJob(text::Json& job) {
  text::Erase(job, {"metadata", "managedFields"});
  text::Erase(job, {"metadata", "annotations", kLastApplied});
  text::Erase(job, {kPacked});
}

void PackJob(text::Json& job) {
  ProjectJob(job);
  text::Object packed;
  packed.reserve(2);
  if (const text::Object* const metadata = text::FindObject(job, {"metadata"})) {
    packed["metadata"] = Pick(*metadata, {"name", "namespace", "uid", "resourceVersion"});
  }
  packed[kPacked] = PackedTextOfJob(job);
  job = std::move(packed);
}

std::string PackedTextOfJob(const text::Json& job) {
  const text::Object* const object = job.if_object();
  const text::Json* const packed = object != nullptr ? object->if_contains(kPacked) : nullptr;
  return packed != nullptr ? std::string(text::GetString(*packed, {}))
                           : ObjectPacking().Pack(text::ToJson(job));
}

void ProjectPod(text::Json& pod) {
  text::Object kept;
  kept.reserve(3);
  kept["metadata"] = MetadataOf(pod);
  const std::string_view node = text::GetString(pod, {"spec", "nodeName"});
  if (!node.empty()) kept["spec"] = text::Object{{"nodeName", node}};
  kept["status"] = StatusOf(pod);
  pod = std::move(kept);
}

void ProjectService(text::Json& service) {
  text::Object kept;
  kept.reserve(1);
  kept["metadata"] = MetadataOf(service);
  service = std::move(kept);
}

void ProjectFiled(text::Json& child) {
  text::Json* const metadata = text::Find(child, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return;
  text::Object& all = metadata->get_object();
  // Only the age of pods is read.
  if (text::Find(child, {"status"}) == nullptr) all.erase("creationTimestamp");
  text::Object kept =
      Take(all, {"name", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
                 "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences"});
  if (text::Json* const labels = kept.if_contains("labels"); labels && labels->is_object()) {
    *labels = Take(labels->get_object(), {api::kReplicaTypeLabel, api::kReplicaIndexLabel});
  }
  *metadata = std::move(kept);
}

base::Result<text::Json> ReadPod(const text::Document& pod) {
  static const text::Projection kParts(ChildParts(), {{"spec", "nodeName"},
                                                      {"status", "phase"},
                                                      {"status", "reason"},
                                                      {"status", "message"},
                                                      {"status", "startTime"},
                                                      {"status", "conditions"},
                                                      {"status", "initContainerStatuses"},
                                                      {"status", "containerStatuses"}});
  return pod.Part(kParts);
}

base::Result<text::Json> ReadService(const text::Document& service) {
  return service.Part(ChildParts());
}

base::Result<text::Json> ReadNode(const text::Document& node) {
  static const text::Projection kParts{{"metadata", "name"},
                                       {"metadata", "resourceVersion"},
                                       {"status", "conditions", "type"},
                                       {"status", "conditions", "status"},
                                       {"status", "conditions", "lastTransitionTime"}};
  return node.Part(kParts);
}

void ProjectPodGroup(text::Json& group) {
  const text::Json* const owner = api::ControllerReference(group);
  if (owner == nullptr || text::GetString(*owner, {"kind"}) != api::kPyTorchJobs.kind) {
    group = nullptr;
    return;
  }
  text::Erase(group, {"metadata", "managedFields"});
}

}  // namespace controller
