#include "local/server/discovery/custom_kinds.h"

#include <fmt/format.h>

#include <string>

#include "api/resources.h"
#include "api/schema/definition.h"
#include "api/schema/schema.h"
#include "local/server/request/api_error.h"
#include "local/store/object.h"
#include "text/json.h"

namespace local::server {
namespace {

// The kinds exist as long as the cluster, and nothing changes their definitions.
constexpr std::string_view kDefinedAt = "1970-01-01T00:00:00Z";

text::Json VersionOf(const api::Resource& resource) {
  if (resource.kind == api::kPyTorchJobs.kind) {
    return text::Items(api::PyTorchJobDefinition(), {"spec", "versions"})[0];
  }
  return text::Object{
      {"name", resource.version},
      {"served", true},
      {"storage", true},
      {"schema", text::Object{{"openAPIV3Schema",
                               text::Object{{"type", "object"},
                                            {"x-kubernetes-preserve-unknown-fields", true}}}}},
      {"subresources", text::Object{{"status", text::Object{}}}}};
}

text::Json Definition(const api::Resource& resource) {
  const text::Object names{{"plural", resource.plural},
                           {"singular", resource.singular},
                           {"kind", resource.kind},
                           {"listKind", resource.list_kind()}};
  text::Array conditions;
  for (const std::string_view type : {"NamesAccepted", "Established"}) {
    conditions.push_back(text::Object{{"type", type},
                                      {"status", "True"},
                                      {"lastTransitionTime", kDefinedAt},
                                      {"reason", "BuiltIn"},
                                      {"message", "the embedded cluster serves this kind"}});
  }
  return text::Object{
      {"kind", kDefinitionKind},
      {"apiVersion", fmt::format("{}/{}", kDefinitionGroup, kDefinitionVersion)},
      {"metadata", text::Object{{"name", store::ResourceName(resource)},
                                {"uid", fmt::format("muster-{}", store::ResourceName(resource))},
                                {"resourceVersion", "1"},
                                {"generation", 1},
                                {"creationTimestamp", kDefinedAt}}},
      {"spec", text::Object{{"group", resource.group},
                            {"names", names},
                            {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                            {"versions", text::Array{VersionOf(resource)}},
                            {"conversion", text::Object{{"strategy", "None"}}}}},
      {"status", text::Object{{"conditions", std::move(conditions)},
                              {"acceptedNames", names},
                              {"storedVersions", text::Array{text::Json(resource.version)}}}}};
}

ApiError NoDefinition(std::string_view name) {
  return {404, "NotFound",
          fmt::format("{}.{} \"{}\" not found", kDefinitionPlural, kDefinitionGroup, name),
          text::Object{{"name", name}, {"group", kDefinitionGroup}, {"kind", kDefinitionPlural}}};
}

std::string NamesOfCustomKinds() {
  std::string names;
  for (const api::Resource* resource : api::AllResources()) {
    if (!api::IsCustom(*resource)) continue;
    names += (names.empty() ? "" : ", ") + store::ResourceName(*resource);
  }
  return names;
}

const api::Resource* CustomKindNamed(std::string_view name) {
  for (const api::Resource* resource : api::AllResources()) {
    if (api::IsCustom(*resource) && store::ResourceName(*resource) == name) return resource;
  }
  return nullptr;
}

// Whatever a client writes, the answer is the present definition.
net::HttpResponse AnswerWrite(const net::Target& target, std::string_view method,
                              std::string_view body) {
  const auto& path = target.segments;
  const bool is_new = method == "POST" && path.size() == 4;
  const bool is_change = (method == "PUT" || method == "PATCH") && path.size() == 5;
  if (!is_new && !is_change) return ToResponse(MethodNotAllowed());
  std::string name = is_new ? "" : path[4];
  if (is_new) {
    const auto object = text::ParseJson(body);
    if (object) name = text::GetString(*object, {"metadata", "name"});
  }
  const api::Resource* const kind = CustomKindNamed(name);
  if (kind != nullptr && is_new) {
    return ToResponse(ApiError{
        409, "AlreadyExists",
        fmt::format("{}.{} \"{}\" already exists", kDefinitionPlural, kDefinitionGroup, name),
        text::Object{{"name", name}, {"group", kDefinitionGroup}, {"kind", kDefinitionPlural}}});
  }
  if (kind == nullptr) {
    return ToResponse(ApiError{
        405, "MethodNotAllowed",
        fmt::format(
            "{} \"{}\": the embedded cluster accepts no definitions of other kinds; the kinds "
            "that it has ({}) are built in",
            kDefinitionKind, name, NamesOfCustomKinds()),
        text::Object{}});
  }
  net::HttpResponse response = JsonResponse(200, text::ToJson(Definition(*kind)));
  response.headers.emplace_back(
      "Warning", WarningHeader(fmt::format("the embedded cluster already has {}: its definition "
                                           "is not changed",
                                           name)));
  return response;
}

}  // namespace

std::optional<net::HttpResponse> AnswerDefinitions(const net::Target& target,
                                                   std::string_view method, std::string_view body) {
  const auto& path = target.segments;
  const bool is_asked_for = (path.size() == 4 || path.size() == 5) && path[0] == "apis" &&
                            path[1] == kDefinitionGroup && path[2] == kDefinitionVersion &&
                            path[3] == kDefinitionPlural;
  if (!is_asked_for) return std::nullopt;
  if (method != "GET") return AnswerWrite(target, method, body);
  text::Array items;
  for (const api::Resource* resource : api::AllResources()) {
    if (!api::IsCustom(*resource)) continue;
    if (path.size() == 4) items.push_back(Definition(*resource));
    if (path.size() == 5 && path[4] == store::ResourceName(*resource)) {
      return JsonResponse(200, text::ToJson(Definition(*resource)));
    }
  }
  if (path.size() == 5) return ToResponse(NoDefinition(path[4]));
  return JsonResponse(
      200, text::ToJson(text::Object{
               {"kind", fmt::format("{}List", kDefinitionKind)},
               {"apiVersion", fmt::format("{}/{}", kDefinitionGroup, kDefinitionVersion)},
               {"metadata", text::Object{{"resourceVersion", "1"}}},
               {"items", std::move(items)}}));
}

}  // namespace local::server
