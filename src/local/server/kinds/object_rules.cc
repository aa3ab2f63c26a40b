#include "local/server/kinds/object_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"
#include "base/uid.h"
#include "local/server/kinds/kind_rules.h"
#include "local/server/schema/protobuf.h"
#include "text/same.h"
#include "text/yaml.h"

namespace local::server {
namespace {

void Keep(const text::Json& old, text::Json& object, text::Path path) {
  if (const text::Json* value = text::Find(old, path)) {
    text::Set(object, path, *value);
  } else {
    text::Erase(object, path);
  }
}

bool CanHold(const text::Json* value) {
  return value == nullptr || value->is_null() || value->is_object();
}

void KeepAnnotation(const text::Json& old, std::string_view key, text::Json& object) {
  if (!CanHold(text::Find(object, {"metadata"})) ||
      !CanHold(text::Find(object, {"metadata", "annotations"})) ||
      text::Find(object, {"metadata", "annotations", key}) != nullptr) {
    return;
  }
  const std::string_view value = api::Annotation(old, key);
  if (!value.empty()) text::Set(object, {"metadata", "annotations", key}, text::Json(value));
}

void KeepOriginOf(const text::Json& old, text::Json& object) {
  for (const std::string_view key :
       {api::kPythonAnnotation, api::kEnvironmentAnnotation, api::kUmaskAnnotation}) {
    KeepAnnotation(old, key, object);
  }
}

// Where a job was submitted from is recorded when it is created. Somebody who puts the job anew,
// from a file that lacks it, does not mean to change where its later pods run.
void KeepOrigin(const text::Json& old, text::Json& job) {
  KeepAnnotation(old, api::kCreatedAnnotation, job);
  KeepOriginOf(old, job);
  for (const std::string_view type : {api::kMaster, api::kWorker}) {
    const text::Path path = {"spec", "pytorchReplicaSpecs", type, "template"};
    text::Json* const pod_template = text::Find(job, path);
    if (pod_template == nullptr || !pod_template->is_object()) continue;
    const text::Json* const before = text::Find(old, path);
    if (before != nullptr) KeepOriginOf(*before, *pod_template);
  }
}

void CheckNewFinalizers(const text::Json& old, const text::Json& object, Causes& causes) {
  if (!api::IsDeleting(old)) return;
  std::vector<std::string> found;
  for (const text::Json& finalizer : text::Items(object, {"metadata", "finalizers"})) {
    if (!HasFinalizer(old, text::GetString(finalizer, {})))
      found.push_back(text::ToJson(finalizer));
  }
  if (found.empty()) return;
  causes.push_back(fmt::format(
      "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
      "deleted, found new finalizers []string{{{}}}",
      base::Join(found, ", ")));
}

bool HasOwner(const text::Json& object, const text::Json& owner) {
  const auto owners = text::Items(object, {"metadata", "ownerReferences"});
  return std::find(owners.begin(), owners.end(), owner) != owners.end();
}

void CheckOwners(const text::Json& object, const text::Json* old, Causes& causes) {
  for (const text::Json& owner : text::Items(object, {"metadata", "ownerReferences"})) {
    if (old != nullptr && HasOwner(*old, owner)) continue;
    for (const auto& [member, word] :
         {std::pair<std::string_view, std::string_view>{"apiVersion", "version"},
          {"kind", "kind"},
          {"name", "name"},
          {"uid", "uid"}}) {
      if (!text::GetString(owner, {member}).empty()) continue;
      causes.push_back(InvalidValue(fmt::format("metadata.ownerReferences.{}", member), "",
                                    fmt::format("{} must not be empty", word)));
    }
  }
}

}  // namespace

Answer<text::Json> DecodeBody(const net::HttpRequest& http, std::string_view what) {
  if (http.parsed) return *http.parsed;
  const std::string type = base::ToLower(net::FindHeader(http.headers, "Content-Type"));
  const std::string_view media = base::Trim(std::string_view(type).substr(0, type.find(';')));
  if (media == "application/yaml" || media == "application/apply-patch+yaml") {
    auto yaml = text::ParseYaml(http.body);
    if (!yaml) return Refuse(BadRequest(yaml.error().Wrap(what).message));
    return std::move(*yaml);
  }
  if (media == kProtobufMedia) {
    auto object = DecodeProtobuf(http.body);
    if (!object) return Refuse(UnsupportedMediaType(object.error().Wrap(what).message));
    return std::move(*object);
  }
  if (!media.empty() && !media.ends_with("json") && media != "application/x-www-form-urlencoded" &&
      media != "text/plain" && media != "*/*") {
    return Refuse(UnsupportedMediaType(fmt::format(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml (got {})",
        media)));
  }
  auto json = text::ParseJson(http.body);
  if (!json) return Refuse(BadRequest(json.error().Wrap(what).message));
  return std::move(*json);
}

Answer<text::Json> DecodeObject(const RestRequest& request, const net::HttpRequest& http) {
  auto decoded = DecodeBody(http, "couldn't read the object");
  if (!decoded) return decoded;
  return NameObject(request, std::move(*decoded));
}

Answer<text::Json> NameObject(const RestRequest& request, text::Json object) {
  const api::Resource& resource = *request.resource;
  const text::Json* metadata = text::Find(object, {"metadata"});
  if (!object.is_object() || (metadata != nullptr && !metadata->is_object())) {
    return Refuse(BadRequest(
        fmt::format("the object provided is unrecognized (must be of type {})", resource.kind)));
  }
  const std::string_view version = text::GetString(object, {"apiVersion"});
  const std::string_view kind = text::GetString(object, {"kind"});
  if (!kind.empty() && kind != resource.kind) {
    return Refuse(BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}", kind,
                                         version, resource.kind)));
  }
  if (!version.empty() && version != resource.api_version()) {
    return Refuse(BadRequest(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    version, resource.api_version())));
  }
  text::Object& fields = object.get_object();
  if (!fields.contains("kind") || !fields.contains("apiVersion")) {
    text::Object named{{"apiVersion", resource.api_version()}, {"kind", resource.kind}};
    for (auto& field : fields) {
      if (field.key() != "kind" && field.key() != "apiVersion") {
        named[field.key()] = std::move(field.value());
      }
    }
    fields = std::move(named);
  }
  for (const std::string_view map : {"labels", "annotations"}) {
    text::Json* const strings = text::Find(object, {"metadata", map});
    if (strings == nullptr || !strings->is_object()) continue;
    // As Go reads it: "labels: {on: }" in YAML.
    for (auto& [key, value] : strings->get_object()) {
      if (value.is_null()) value = "";
    }
  }
  const std::string_view given = text::GetString(object, {"metadata", "namespace"});
  if (resource.namespaced && given.empty()) {
    text::Set(object, {"metadata", "namespace"}, text::Json(request.namespace_name));
  } else if (given != request.namespace_name) {
    return Refuse(BadRequest(resource.namespaced
                                 ? "the namespace of the provided object does not match the "
                                   "namespace sent on the request"
                                 : "namespace may not be set on a cluster-scoped object"));
  }
  return object;
}

Check CheckMetadata(const api::Resource& resource, const text::Json& object,
                    const text::Json* old) {
  const std::string_view name = text::GetString(object, {"metadata", "name"});
  std::vector<std::string> causes;
  if (name.empty()) {
    causes.emplace_back("metadata.name: Required value: name or generateName is required");
  } else {
    causes = NameCauses(RulesOf(resource).name, name);
  }
  CheckStrings(object, StringMap::kLabels, causes);
  CheckStrings(object, StringMap::kAnnotations, causes);
  for (const std::string_view list : {"ownerReferences", "finalizers"}) {
    const text::Json* value = text::Find(object, {"metadata", list});
    if (value == nullptr || value->is_null() || value->is_array()) continue;
    causes.push_back(
        InvalidValue(fmt::format("metadata.{}", list), text::ToJson(*value), "must be a list"));
  }
  CheckOwners(object, old, causes);
  if (!causes.empty()) return Refuse(Invalid(resource, name, causes));
  return {};
}

void PrepareCreate(const api::Resource& resource, base::Time now, text::Json& object) {
  text::Json& metadata = text::Ensure(object, {"metadata"});
  for (const std::string_view key : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
                                     "managedFields", "generation", "resourceVersion"}) {
    text::Erase(metadata, {key});
  }
  text::Set(metadata, {"uid"}, text::Json(base::NewUid()));
  text::Set(metadata, {"creationTimestamp"}, text::Json(base::FormatRfc3339(now)));
  const KindRules& rules = RulesOf(resource);
  if (rules.has_generation) text::Set(metadata, {"generation"}, 1);

  // A kubelet registers its node with a status; all other objects begin with an empty one.
  if (resource.has_status && &resource != &api::kNodes) text::Erase(object, {"status"});
  if (rules.set_defaults != nullptr) rules.set_defaults(object);
  if (rules.begin != nullptr) rules.begin(object);
}

void FillIn(const api::Resource& resource, base::Time now, text::Json& object) {
  if (&resource == &api::kPyTorchJobs) {
    text::Set(object, {"metadata", "annotations", api::kCreatedAnnotation},
              text::Json(base::FormatRfc3339Micro(now)));
  }
  if (const auto fill_in = RulesOf(resource).fill_in) fill_in(object);
}

bool HasSameContent(const text::Json& a, const text::Json& b) {
  const auto is_content = [](std::string_view key) { return key != "metadata" && key != "status"; };
  const auto has_all_of = [&](const text::Object& other, const text::Object& object) {
    return std::all_of(other.begin(), other.end(), [&](const auto& member) {
      if (!is_content(member.key())) return true;
      const text::Json* const mine = object.if_contains(member.key());
      return mine != nullptr && text::IsSame(*mine, member.value());
    });
  };
  const text::Object& one = a.get_object();
  const text::Object& two = b.get_object();
  const auto count = [&](const text::Object& object) {
    return std::count_if(object.begin(), object.end(),
                         [&](const auto& member) { return is_content(member.key()); });
  };
  return count(one) == count(two) && has_all_of(one, two);
}

Check CheckSpec(const api::Resource& resource, const text::Json& object) {
  Causes causes;
  if (const auto check = RulesOf(resource).check) check(object, causes);
  if (causes.empty()) return {};
  return Refuse(Invalid(resource, text::GetString(object, {"metadata", "name"}), causes));
}

Check PrepareUpdate(const api::Resource& resource, const text::Json& old, text::Json& object) {
  text::Json& metadata = text::Ensure(object, {"metadata"});
  const text::Json& old_metadata = *text::Find(old, {"metadata"});
  for (const std::string_view key :
       {"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion",
        "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    Keep(old_metadata, metadata, {key});
  }
  text::Erase(metadata, {"managedFields"});
  text::Erase(metadata, {"selfLink"});
  if (resource.has_status) Keep(old, object, {"status"});
  if (&resource == &api::kPyTorchJobs) KeepOrigin(old, object);
  const KindRules& rules = RulesOf(resource);
  if (rules.set_defaults != nullptr) rules.set_defaults(object);
  Causes causes;
  CheckNewFinalizers(old, object, causes);
  if (rules.check_change != nullptr) rules.check_change(old, object, causes);
  if (!causes.empty()) {
    return Refuse(Invalid(resource, text::GetString(old, {"metadata", "name"}), causes));
  }
  if (rules.has_generation && !HasSameContent(old, object)) {
    const int64_t generation = text::GetInt(old_metadata, {"generation"}).value_or(0);
    text::Set(metadata, {"generation"}, generation + 1);
  }
  return {};
}

void PrepareStatusUpdate(const text::Json& old, text::Json& object) {
  text::Json next = old;
  if (text::Json* status = text::Find(object, {"status"})) {
    text::Set(next, {"status"}, std::move(*status));
  } else {
    text::Erase(next, {"status"});
  }
  object = std::move(next);
}

bool HasFinalizers(const text::Json& object) {
  return !text::Items(object, {"metadata", "finalizers"}).empty();
}

bool HasFinalizer(const text::Json& object, std::string_view name) {
  return std::ranges::any_of(
      text::Items(object, {"metadata", "finalizers"}),
      [&](const text::Json& finalizer) { return text::GetString(finalizer, {}) == name; });
}

void AddFinalizer(text::Json& object, std::string_view name) {
  if (HasFinalizer(object, name)) return;
  text::Json& finalizers = text::Ensure(object, {"metadata", "finalizers"});
  if (!finalizers.is_array()) finalizers = text::Array{};
  finalizers.get_array().push_back(text::Json(name));
}

void RemoveFinalizer(text::Json& object, std::string_view name) {
  text::Json* finalizers = text::Find(object, {"metadata", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return;
  text::Array left;
  for (text::Json& finalizer : finalizers->get_array()) {
    if (!(finalizer.is_string() && finalizer.get_string() == name)) {
      left.push_back(std::move(finalizer));
    }
  }
  if (left.empty()) {
    text::Erase(object, {"metadata", "finalizers"});
  } else {
    *finalizers = std::move(left);
  }
}

}  // namespace local::server
