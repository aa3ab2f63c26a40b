#include "local/server/openapi.h"

#include <fmt/format.h>

#include <string>

#include "api/resources.h"
#include "local/server/api_error.h"
#include "text/json.h"

namespace local::server {
namespace {

// "api/v1", "apis/kubeflow.org/v1"
std::string GroupVersionPath(const api::Resource& resource) {
  return fmt::format("{}/{}", resource.group.empty() ? "api" : "apis", resource.api_version());
}

text::Json PatchOperation(const api::Resource& resource) {
  text::Array parameters;
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
    parameters.push_back(text::Object{
        {"name", name}, {"in", "query"}, {"schema", text::Object{{"type", "string"}}}});
  }
  return text::Object{
      {"parameters", std::move(parameters)},
      {"responses", text::Object{{"200", text::Object{{"description", "OK"}}}}},
      {"x-kubernetes-action", "patch"},
      {"x-kubernetes-group-version-kind",
       text::Object{
           {"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}}};
}

}  // namespace

std::optional<net::HttpResponse> DescribeOpenApi(const net::Target& target) {
  const auto& segments = target.segments;
  if (segments.size() < 2 || segments[0] != "openapi" || segments[1] != "v3") return std::nullopt;
  std::string wanted;
  for (size_t i = 2; i < segments.size(); ++i) {
    wanted += (wanted.empty() ? "" : "/") + segments[i];
  }
  text::Object paths;
  for (const api::Resource* resource : api::AllResources()) {
    const std::string home = GroupVersionPath(*resource);
    if (wanted.empty()) {
      paths[home] = text::Object{{"serverRelativeURL", "/openapi/v3/" + home}};
    } else if (wanted == home) {
      paths[fmt::format("/{}/{}{}/{{name}}", home,
                        resource->namespaced ? "namespaces/{namespace}/" : "", resource->plural)] =
          text::Object{{"patch", PatchOperation(*resource)}};
    }
  }
  if (paths.empty()) return std::nullopt;
  text::Object document;
  if (!wanted.empty()) {
    document["openapi"] = "3.0.0";
    document["info"] = text::Object{{"title", "muster"}, {"version", MUSTER_VERSION}};
  }
  document["paths"] = std::move(paths);
  return JsonResponse(200, text::ToJson(document));
}

}  // namespace local::server
