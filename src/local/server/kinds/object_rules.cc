#include "local/server/kinds/object_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "base/uid.h"
#include "local/server/kinds/deployment_rules.h"
#include "local/server/kinds/service_rules.h"
#include "local/server/schema/protobuf.h"
#include "text/yaml.h"

namespace local::server {
namespace {

// Texts of k8s.io/apimachinery/pkg/util/validation.
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kDns1035Rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

std::string InvalidValue(std::string_view field, std::string_view value, std::string_view why) {
  return fmt::format("{}: Invalid value: {}: {}", field, text::ToJson(text::Json(value)), why);
}

std::vector<std::string> NameCauses(const api::Resource& resource, std::string_view name) {
  std::vector<std::string> causes;
  const auto check = [&](bool is_fine, std::string_view rule) {
    if (!is_fine) causes.push_back(InvalidValue("metadata.name", name, rule));
  };
  const auto check_length = [&](size_t limit) {
    check(name.size() <= limit, fmt::format("must be no more than {} characters", limit));
  };
  if (&resource == &api::kServices) {
    check_length(api::kMaxLabelLength);
    check(api::IsDns1035Label(name), kDns1035Rule);
  } else if (&resource == &api::kNamespaces) {
    check_length(api::kMaxLabelLength);
    check(api::IsDnsLabel(name), kLabelRule);
  } else {
    check_length(api::kMaxSubdomainLength);
    check(api::IsDnsSubdomain(name), kSubdomainRule);
  }
  return causes;
}

void CheckStrings(const text::Json& object, std::string_view key, bool are_labels,
                  std::vector<std::string>& causes) {
  const text::Json* map = text::Find(object, {"metadata", key});
  if (map == nullptr || map->is_null()) return;
  const std::string field = fmt::format("metadata.{}", key);
  if (!map->is_object()) {
    causes.push_back(InvalidValue(field, text::ToJson(*map), "must be an object of strings"));
    return;
  }
  for (const auto& [name, value] : map->get_object()) {
    if (!value.is_string()) {
      causes.push_back(InvalidValue(fmt::format("{}.{}", field, std::string_view(name)),
                                    text::ToJson(value), "must be a string"));
      continue;
    }
    const std::string_view text = value.get_string();
    const bool is_fine = api::IsQualifiedName(base::ToLower(name)) || api::IsQualifiedName(name);
    if (!is_fine) {
      causes.push_back(InvalidValue(
          field, name,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
          "end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
          "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"));
    }
    if (are_labels && !api::IsLabelValue(text)) {
      causes.push_back(InvalidValue(
          field, text,
          text.size() > api::kMaxLabelLength
              ? "must be no more than 63 characters"
              : "a valid label must be an empty string or consist of alphanumeric characters, '-', "
                "'_' or '.', and must start and end with an alphanumeric character (e.g. "
                "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
    }
  }
}

void PreparePod(text::Json& pod) {
  text::SetDefault(pod, {"spec", "restartPolicy"}, "Always");
  text::SetDefault(pod, {"spec", "terminationGracePeriodSeconds"}, kDefaultGraceSeconds);
  text::SetDefault(pod, {"spec", "schedulerName"}, "default-scheduler");
  text::Set(pod, {"status"}, text::Object{{"phase", "Pending"}, {"qosClass", "BestEffort"}});
}

void PrepareSecret(text::Json& secret) {
  text::SetDefault(secret, {"type"}, "Opaque");
  const text::Object* plain = text::FindObject(secret, {"stringData"});
  if (plain == nullptr) return;
  const text::Object copy = *plain;
  for (const auto& [key, value] : copy) {
    if (!value.is_string()) continue;
    text::Set(secret, {"data", std::string_view(key)},
              text::Json(base::Base64Encode(value.get_string())));
  }
  text::Erase(secret, {"stringData"});
}

// A pod's spec with what may be changed later taken out.
text::Json FixedPodSpec(const text::Json& pod) {
  const text::Json* spec = text::Find(pod, {"spec"});
  text::Json fixed = spec == nullptr ? text::Json(text::Object{}) : *spec;
  for (const std::string_view list : {"containers", "initContainers"}) {
    text::Json* containers = text::Find(fixed, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (text::Json& container : containers->get_array()) text::Erase(container, {"image"});
  }
  text::Erase(fixed, {"activeDeadlineSeconds"});
  text::Erase(fixed, {"terminationGracePeriodSeconds"});
  text::Erase(fixed, {"tolerations"});
  return fixed;
}

// Everything but metadata and status.
bool HasSameContent(const text::Json& a, const text::Json& b) {
  const auto strip = [](const text::Json& object) {
    text::Json copy = object;
    text::Erase(copy, {"metadata"});
    text::Erase(copy, {"status"});
    return copy;
  };
  return strip(a) == strip(b);
}

// Kubernetes counts the specs of some kinds only.
bool HasGeneration(const api::Resource& resource) {
  return resource.has_status && &resource != &api::kServices && &resource != &api::kNamespaces &&
         &resource != &api::kNodes && &resource != &api::kPersistentVolumeClaims;
}

void Keep(const text::Json& old, text::Json& object, text::Path path) {
  if (const text::Json* value = text::Find(old, path)) {
    text::Set(object, path, *value);
  } else {
    text::Erase(object, path);
  }
}

void CheckContainers(const text::Json& pod, std::string_view list, bool is_required,
                     std::vector<std::string>& causes) {
  const text::Array* containers = text::FindArray(pod, {"spec", list});
  if (containers == nullptr || containers->empty()) {
    if (is_required) causes.push_back(fmt::format("spec.{}: Required value", list));
    return;
  }
  for (size_t i = 0; i < containers->size(); ++i) {
    const text::Json& container = (*containers)[i];
    const std::string field = fmt::format("spec.{}[{}]", list, i);
    const std::string_view name = text::GetString(container, {"name"});
    if (name.empty()) {
      causes.push_back(field + ".name: Required value");
    } else if (!api::IsDnsLabel(name) || name.size() > api::kMaxLabelLength) {
      causes.push_back(InvalidValue(field + ".name", name, kLabelRule));
    }
    if (text::GetString(container, {"image"}).empty()) {
      causes.push_back(field + ".image: Required value");
    }
  }
}

}  // namespace

Answer<text::Json> DecodeBody(const net::HttpRequest& http, std::string_view what) {
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

Check CheckMetadata(const api::Resource& resource, const text::Json& object) {
  const std::string_view name = text::GetString(object, {"metadata", "name"});
  std::vector<std::string> causes;
  if (name.empty()) {
    causes.emplace_back("metadata.name: Required value: name or generateName is required");
  } else {
    causes = NameCauses(resource, name);
  }
  CheckStrings(object, "labels", true, causes);
  CheckStrings(object, "annotations", false, causes);
  for (const std::string_view list : {"ownerReferences", "finalizers"}) {
    const text::Json* value = text::Find(object, {"metadata", list});
    if (value == nullptr || value->is_null() || value->is_array()) continue;
    causes.push_back(
        InvalidValue(fmt::format("metadata.{}", list), text::ToJson(*value), "must be a list"));
  }
  if (const text::Array* owners = text::FindArray(object, {"metadata", "ownerReferences"})) {
    for (size_t i = 0; i < owners->size(); ++i) {
      if (!text::GetString((*owners)[i], {"uid"}).empty()) continue;
      causes.push_back(fmt::format(
          "metadata.ownerReferences[{}].uid: Invalid value: \"\": uid must not be empty", i));
    }
  }
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
  if (HasGeneration(resource)) text::Set(metadata, {"generation"}, 1);

  // A kubelet registers its node with a status; everybody else's begins empty.
  if (resource.has_status && &resource != &api::kNodes) text::Erase(object, {"status"});
  if (&resource == &api::kPyTorchJobs) api::ApplySchemaDefaults(object);
  if (&resource == &api::kPods) {
    PreparePod(object);
  } else if (&resource == &api::kSecrets) {
    PrepareSecret(object);
  } else if (&resource == &api::kNamespaces) {
    text::Set(object, {"metadata", "labels", "kubernetes.io/metadata.name"},
              *text::Find(object, {"metadata", "name"}));
    text::Set(object, {"spec", "finalizers"}, text::Array{"kubernetes"});
    text::Set(object, {"status", "phase"}, "Active");
  } else if (&resource == &api::kPersistentVolumeClaims) {
    text::Set(object, {"status", "phase"}, "Pending");
  } else if (&resource == &api::kServices) {
    SetServiceDefaults(object);
    text::Set(object, {"status"}, text::Object{{"loadBalancer", text::Object{}}});
  } else if (&resource == &api::kDeployments) {
    SetDeploymentDefaults(object);
  } else if (&resource == &api::kEvents) {
    text::SetDefault(object, {"reportingComponent"}, "");
    text::SetDefault(object, {"reportingInstance"}, "");
  }
}

Check CheckSpec(const api::Resource& resource, const text::Json& object) {
  const std::string_view name = text::GetString(object, {"metadata", "name"});
  if (&resource == &api::kDeployments) {
    const std::vector<std::string> causes = DeploymentCauses(object);
    if (!causes.empty()) return Refuse(Invalid(resource, name, causes));
  }
  if (&resource != &api::kPods) return {};
  std::vector<std::string> causes;
  CheckContainers(object, "initContainers", false, causes);
  CheckContainers(object, "containers", true, causes);
  const auto grace = text::GetInt(object, {"spec", "terminationGracePeriodSeconds"});
  if (!grace || *grace < 0) {
    causes.emplace_back(
        "spec.terminationGracePeriodSeconds: Invalid value: must be greater than or equal to 0");
  }
  if (!causes.empty()) return Refuse(Invalid(resource, name, causes));
  return {};
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
  if (&resource == &api::kSecrets) PrepareSecret(object);
  if (&resource == &api::kDeployments) SetDeploymentDefaults(object);
  if (&resource == &api::kPods) {
    text::SetDefault(object, {"spec", "restartPolicy"}, "Always");
    text::SetDefault(object, {"spec", "terminationGracePeriodSeconds"}, kDefaultGraceSeconds);
    text::SetDefault(object, {"spec", "schedulerName"}, "default-scheduler");
    if (FixedPodSpec(old) != FixedPodSpec(object)) {
      return Refuse(Invalid(
          resource, text::GetString(old, {"metadata", "name"}),
          {"spec: Forbidden: pod updates may not change fields other than "
           "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
           "`spec.tolerations` (only additions to existing tolerations),"
           "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
           "negative)"}));
    }
  }
  if (&resource == &api::kServices) SetServiceDefaults(object);
  if (&resource == &api::kPyTorchJobs) api::ApplySchemaDefaults(object);
  if (HasGeneration(resource) && !HasSameContent(old, object)) {
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
  const text::Array* finalizers = text::FindArray(object, {"metadata", "finalizers"});
  return finalizers != nullptr && !finalizers->empty();
}

bool HasFinalizer(const text::Json& object, std::string_view name) {
  const text::Array* finalizers = text::FindArray(object, {"metadata", "finalizers"});
  if (finalizers == nullptr) return false;
  return std::any_of(finalizers->begin(), finalizers->end(), [&](const text::Json& finalizer) {
    return finalizer.is_string() && finalizer.get_string() == name;
  });
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
