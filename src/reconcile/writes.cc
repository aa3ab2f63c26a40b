#include "reconcile/writes.h"

#include <fmt/format.h>

#include <utility>

#include "api/names.h"
#include "api/object.h"

namespace reconcile {
namespace {

std::string_view KindInReasons(const api::Resource& resource) {
  return &resource == &api::kServices ? "Service" : "Pod";
}

}  // namespace

Event Normal(std::string_view reason, std::string message) {
  return {false, std::string(reason), std::move(message)};
}

Event Warning(std::string_view reason, std::string message) {
  return {true, std::string(reason), std::move(message)};
}

text::Array OwnerReferences(const api::PyTorchJob& job) {
  text::Array owners;
  owners.push_back(api::MakeControllerReference(api::kPyTorchJobs, job.name, job.uid));
  return owners;
}

Write CreateChild(const api::Resource& resource, text::Json object) {
  Write write = Create(resource, std::move(object));
  const std::string_view kind = KindInReasons(resource);
  write.on_success = Normal(fmt::format("SuccessfulCreate{}", kind),
                            fmt::format("Created {}: {}", resource.singular, write.name));
  write.on_failure = Warning(fmt::format("FailedCreate{}", kind), "Error creating: ");
  return write;
}

Write DeleteChild(const api::Resource& resource, const Child& child) {
  Write write;
  write.verb = Write::Verb::kDelete;
  write.resource = &resource;
  write.name = child.name;
  write.uid = child.uid;
  write.is_forced = child.is_lost;
  const std::string_view kind = KindInReasons(resource);
  write.on_success = Normal(fmt::format("SuccessfulDelete{}", kind),
                            fmt::format("Deleted {}: {}", resource.singular, write.name));
  write.on_failure = Warning(fmt::format("FailedDelete{}", kind), "Error deleting: ");
  return write;
}

Write EndPod(const api::PyTorchJob& job, const Child& pod) {
  Write write;
  write.verb = Write::Verb::kPatch;
  write.resource = &api::kPods;
  write.name = pod.name;
  write.uid = pod.uid;
  write.object = text::Object();
  text::Set(write.object, {"metadata", "uid"}, text::Json(pod.uid));
  text::Set(write.object, {"metadata", "annotations", api::kEndAnnotation},
            text::Json(fmt::format("the job {} has ended", job.name)));
  write.on_success = Normal("EndedPod", fmt::format("Ended pod: {}", write.name));
  return write;
}

Write DeleteJob(const api::PyTorchJob& job) {
  Write write;
  write.verb = Write::Verb::kDelete;
  write.resource = &api::kPyTorchJobs;
  write.name = job.name;
  write.uid = job.uid;
  // Sic: the reasons are the ones used for pods.
  write.on_success = Normal("SuccessfulDeletePod", "Deleted job: " + job.name);
  write.on_failure = Warning("FailedDeletePod", "Error deleting: ");
  return write;
}

Write Create(const api::Resource& resource, text::Json object) {
  Write write;
  write.verb = Write::Verb::kCreate;
  write.resource = &resource;
  write.name = api::Name(object);
  write.object = std::move(object);
  return write;
}

Write Update(const api::Resource& resource, text::Json object) {
  Write write = Create(resource, std::move(object));
  write.verb = Write::Verb::kUpdate;
  return write;
}

Write Delete(const api::Resource& resource, const text::Json& object) {
  Write write;
  write.verb = Write::Verb::kDelete;
  write.resource = &resource;
  write.name = api::Name(object);
  write.uid = api::Uid(object);
  return write;
}

}  // namespace reconcile
