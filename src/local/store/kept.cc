#include "local/store/kept.h"

#include "api/object.h"
#include "api/resources.h"

namespace local::store {
namespace {

text::Array KeptContainers(const text::Json& pod, std::string_view list) {
  text::Array kept;
  for (const text::Json& container : text::Items(pod, {"spec", list})) {
    text::Object part;
    for (const char* field : {"name", "image", "resources"}) {
      if (const text::Json* value = text::Find(container, {field})) part[field] = *value;
    }
    kept.emplace_back(std::move(part));
  }
  return kept;
}

void TrimPod(text::Json& pod) {
  text::Object spec{{"nodeName", text::GetString(pod, {"spec", "nodeName"})},
                    {"containers", KeptContainers(pod, "containers")},
                    {"initContainers", KeptContainers(pod, "initContainers")}};
  text::Set(pod, {"spec"}, std::move(spec));
}

}  // namespace

std::optional<Kept> ToKeep(const Key& key, const text::Json& object, int64_t created,
                           int64_t deleted) {
  const bool is_job = key.resource == ResourceName(api::kPyTorchJobs);
  Kept kept;
  kept.uid = api::Uid(object);
  if (is_job) {
    kept.run = kept.uid;
  } else if (key.resource == ResourceName(api::kPods)) {
    const text::Json* controller = api::ControllerReference(object);
    if (controller == nullptr || text::GetString(*controller, {"kind"}) != api::kPyTorchJobs.kind) {
      return std::nullopt;
    }
    kept.run = api::ControllerUid(object);
  } else {
    return std::nullopt;
  }
  text::Json trimmed = object;
  text::Erase(trimmed, {"metadata", "managedFields"});
  if (!is_job) TrimPod(trimmed);
  kept.resource = key.resource;
  kept.namespace_name = key.namespace_name;
  kept.name = key.name;
  kept.created = created;
  kept.deleted = deleted;
  kept.json = text::ToJson(trimmed);
  return kept;
}

}  // namespace local::store
