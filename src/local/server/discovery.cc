#include "local/server/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/resources.h"
#include "local/server/api_error.h"
#include "text/json.h"

namespace local::server {
namespace {

// The Kubernetes whose API this is a part of.
constexpr std::string_view kKubernetesMinor = "33";

struct ShortName {
  const api::Resource* resource;
  std::string_view name;
};

constexpr ShortName kShortNames[] = {
    {&api::kPods, "po"},
    {&api::kServices, "svc"},
    {&api::kConfigMaps, "cm"},
    {&api::kPersistentVolumeClaims, "pvc"},
    {&api::kNodes, "no"},
    {&api::kNamespaces, "ns"},
    {&api::kEvents, "ev"},
    {&api::kPriorityClasses, "pc"},
    {&api::kDeployments, "deploy"},
    {&api::kHorizontalPodAutoscalers, "hpa"},
};

text::Json Entry(const api::Resource& resource) {
  text::Object entry{{"name", resource.plural},
                     {"singularName", resource.singular},
                     {"namespaced", resource.namespaced},
                     {"kind", resource.kind},
                     {"verbs", text::Array{"create", "delete", "deletecollection", "get", "list",
                                           "patch", "update", "watch"}}};
  for (const ShortName& name : kShortNames) {
    if (name.resource == &resource) entry["shortNames"] = text::Array{text::Json(name.name)};
  }
  if (&resource == &api::kPods) entry["categories"] = text::Array{"all"};
  return entry;
}

text::Json SubresourceEntry(const api::Resource& resource, std::string_view name,
                            std::string_view kind, text::Array verbs) {
  return text::Object{{"name", fmt::format("{}/{}", resource.plural, name)},
                      {"singularName", ""},
                      {"namespaced", resource.namespaced},
                      {"kind", kind},
                      {"verbs", std::move(verbs)}};
}

text::Json ResourceList(std::string_view group, std::string_view version) {
  text::Array resources;
  for (const api::Resource* resource : api::AllResources()) {
    if (resource->group != group || resource->version != version) continue;
    resources.push_back(Entry(*resource));
    if (resource->has_status) {
      resources.push_back(SubresourceEntry(*resource, "status", resource->kind,
                                           text::Array{"get", "patch", "update"}));
    }
    if (resource == &api::kPods) {
      resources.push_back(SubresourceEntry(*resource, "log", "Pod", text::Array{"get"}));
      resources.push_back(SubresourceEntry(*resource, "binding", "Binding", text::Array{"create"}));
    }
    if (resource == &api::kPyTorchJobs) {
      text::Json scale =
          SubresourceEntry(*resource, "scale", "Scale", text::Array{"get", "patch", "update"});
      text::Set(scale, {"group"}, "autoscaling");
      text::Set(scale, {"version"}, "v1");
      resources.push_back(std::move(scale));
    }
  }
  return text::Object{
      {"kind", "APIResourceList"},
      {"apiVersion", "v1"},
      {"groupVersion", group.empty() ? std::string(version) : fmt::format("{}/{}", group, version)},
      {"resources", std::move(resources)}};
}

text::Json Group(std::string_view group) {
  text::Array versions;
  std::vector<std::string_view> seen;
  for (const api::Resource* resource : api::AllResources()) {
    if (resource->group != group) continue;
    if (std::find(seen.begin(), seen.end(), resource->version) != seen.end()) continue;
    seen.push_back(resource->version);
    versions.push_back(
        text::Object{{"groupVersion", fmt::format("{}/{}", group, resource->version)},
                     {"version", resource->version}});
  }
  if (versions.empty()) return nullptr;
  text::Json preferred = versions.front();
  return text::Object{{"name", group},
                      {"versions", std::move(versions)},
                      {"preferredVersion", std::move(preferred)}};
}

text::Json GroupList() {
  text::Array groups;
  std::vector<std::string_view> seen = {""};
  for (const api::Resource* resource : api::AllResources()) {
    if (std::find(seen.begin(), seen.end(), resource->group) != seen.end()) continue;
    seen.push_back(resource->group);
    groups.push_back(Group(resource->group));
  }
  return text::Object{
      {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

text::Json Version() {
  return text::Object{
      {"major", "1"},
      {"minor", kKubernetesMinor},
      {"gitVersion", fmt::format("v1.{}.0+muster-{}", kKubernetesMinor, MUSTER_VERSION)},
      {"gitCommit", ""},
      {"gitTreeState", "clean"},
      {"buildDate", "1970-01-01T00:00:00Z"},
      {"goVersion", ""},
      {"compiler", ""},
      {"platform", "linux/amd64"}};
}

net::HttpResponse Ok(const text::Json& json) { return JsonResponse(200, text::ToJson(json)); }

}  // namespace

std::optional<net::HttpResponse> Discover(const net::Target& target) {
  const auto& path = target.segments;
  if (path.empty()) return std::nullopt;
  if (path[0] == "healthz" || path[0] == "readyz" || path[0] == "livez") {
    return net::HttpResponse{200, {{"Content-Type", "text/plain; charset=utf-8"}}, "ok"};
  }
  if (path[0] == "version" && path.size() == 1) return Ok(Version());
  if (path[0] == "api" && path.size() == 1) {
    return Ok(text::Object{{"kind", "APIVersions"},
                           {"versions", text::Array{"v1"}},
                           {"serverAddressByClientCIDRs", text::Array{}}});
  }
  if (path[0] == "apis" && path.size() == 1) return Ok(GroupList());
  std::string_view group;
  std::string_view version;
  if (path[0] == "api" && path.size() == 2) {
    version = path[1];
  } else if (path[0] == "apis" && path.size() == 2) {
    text::Json found = Group(path[1]);
    if (found.is_null() || path[1].empty()) return std::nullopt;
    text::Object& object = found.get_object();
    object["kind"] = "APIGroup";
    object["apiVersion"] = "v1";
    return Ok(found);
  } else if (path[0] == "apis" && path.size() == 3) {
    group = path[1];
    version = path[2];
    if (group.empty()) return std::nullopt;
  } else {
    return std::nullopt;
  }
  text::Json list = ResourceList(group, version);
  if (text::FindArray(list, {"resources"})->empty()) return std::nullopt;
  return Ok(list);
}

}  // namespace local::server
