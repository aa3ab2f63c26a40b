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

text::Object KeptSpec(const text::Json& pod) {
  return {{"nodeName", text::GetString(pod, {"spec", "nodeName"})},
          {"containers", KeptContainers(pod, "containers")},
          {"initContainers", KeptContainers(pod, "initContainers")}};
}

// All but what is long: managedFields, and of a pod's spec what KeptSpec leaves out.
text::Object Trimmed(const text::Json& object, bool is_pod) {
  text::Object kept;
  for (const auto& [key, value] : object.get_object()) {
    if (key == "metadata" && value.is_object()) {
      text::Object metadata;
      for (const auto& [field, of_it] : value.get_object()) {
        if (field != "managedFields") metadata.emplace(field, of_it);
      }
      kept.emplace(key, std::move(metadata));
    } else if (!is_pod || key != "spec") {
      kept.emplace(key, value);
    }
  }
  if (is_pod) kept["spec"] = KeptSpec(object);
  return kept;
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
  kept.resource = key.resource;
  kept.namespace_name = key.namespace_name;
  kept.name = key.name;
  kept.created = created;
  kept.deleted = deleted;
  kept.json = text::ToJson(Trimmed(object, !is_job));
  return kept;
}

}  // namespace local::store
