#include "api/object.h"

#include <chrono>

#include "api/names.h"

namespace api {
namespace {

std::map<std::string, std::string> StringsAt(const text::Json& object, text::Path path) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : text::Members(object, path)) {
    if (value.is_string()) out.emplace(key, text::GetString(value, {}));
  }
  return out;
}

}  // namespace

std::string_view Name(const text::Json& object) {
  return text::GetString(object, {"metadata", "name"});
}

std::string_view Namespace(const text::Json& object) {
  return text::GetString(object, {"metadata", "namespace"});
}

std::string_view Uid(const text::Json& object) {
  return text::GetString(object, {"metadata", "uid"});
}

std::string_view ResourceVersion(const text::Json& object) {
  return text::GetString(object, {"metadata", "resourceVersion"});
}

std::string_view Label(const text::Json& object, std::string_view key) {
  return text::GetString(object, {"metadata", "labels", key});
}

std::string_view Annotation(const text::Json& object, std::string_view key) {
  return text::GetString(object, {"metadata", "annotations", key});
}

std::map<std::string, std::string> Labels(const text::Json& object) {
  return StringsAt(object, {"metadata", "labels"});
}

std::map<std::string, std::string> Annotations(const text::Json& object) {
  return StringsAt(object, {"metadata", "annotations"});
}

bool IsDeleting(const text::Json& object) {
  const text::Json* const time = text::Find(object, {"metadata", "deletionTimestamp"});
  return time != nullptr && !time->is_null();
}

std::optional<base::Time> CreationTime(const text::Json& object) {
  const auto second = GetTime(object, {"metadata", "creationTimestamp"});
  const auto exact = GetTime(object, {"metadata", "annotations", kCreatedAnnotation});
  // A copy of a job may have brought the annotation of another.
  const bool is_own =
      second && exact && std::chrono::floor<std::chrono::seconds>(*exact) == *second;
  return is_own ? exact : second;
}

std::optional<base::Time> GetTime(const text::Json& object, text::Path path) {
  const std::string_view written = text::GetString(object, path);
  if (written.empty()) return std::nullopt;
  const auto time = base::ParseRfc3339(written);
  if (!time) return std::nullopt;
  return *time;
}

namespace {

// `status` "" is any.
const text::Json* FirstCondition(const text::Json& object, std::string_view type,
                                 std::string_view status) {
  for (const text::Json& condition : text::Items(object, {"status", "conditions"})) {
    if (text::GetString(condition, {"type"}) != type) continue;
    if (status.empty() || text::GetString(condition, {"status"}) == status) return &condition;
  }
  return nullptr;
}

}  // namespace

const text::Json* FindCondition(const text::Json& object, std::string_view type) {
  return FirstCondition(object, type, "");
}

const text::Json* TrueCondition(const text::Json& object, std::string_view type) {
  return FirstCondition(object, type, "True");
}

const text::Json* ControllerReference(const text::Json& object) {
  for (const text::Json& owner : text::Items(object, {"metadata", "ownerReferences"})) {
    if (text::GetBool(owner, {"controller"}).value_or(false)) return &owner;
  }
  return nullptr;
}

std::string_view ControllerUid(const text::Json& object) {
  const text::Json* const controller = ControllerReference(object);
  return controller != nullptr ? text::GetString(*controller, {"uid"}) : std::string_view{};
}

text::Json MakeControllerReference(const Resource& resource, const text::Json& owner) {
  return MakeControllerReference(resource, Name(owner), Uid(owner));
}

text::Json MakeControllerReference(const Resource& resource, std::string_view name,
                                   std::string_view uid) {
  return {{"apiVersion", resource.api_version()},
          {"kind", resource.kind},
          {"name", name},
          {"uid", uid},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

void SetLabel(text::Json& object, std::string_view key, std::string_view value) {
  text::Set(object, {"metadata", "labels", key}, text::Json(value));
}

void SetAnnotation(text::Json& object, std::string_view key, std::string_view value) {
  text::Set(object, {"metadata", "annotations", key}, text::Json(value));
}

}  // namespace api
