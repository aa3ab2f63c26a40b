#include "local/server/discovery/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/resources.h"
#include "base/strings.h"
#include "local/server/discovery/custom_kinds.h"
#include "local/server/discovery/reviews.h"
#include "local/server/kinds/kind_rules.h"
#include "local/server/request/api_error.h"
#include "text/json.h"

namespace local::server {
namespace {

// The minor version of Kubernetes whose API this is a part of.
constexpr std::string_view kKubernetesMinor = "33";

text::Json Entry(const api::Resource& resource) {
  text::Object entry{{"name", resource.plural},
                     {"singularName", resource.singular},
                     {"namespaced", resource.namespaced},
                     {"kind", resource.kind},
                     {"verbs", text::Array{"create", "delete", "deletecollection", "get", "list",
                                           "patch", "update", "watch"}}};
  const KindRules& rules = RulesOf(resource);
  if (!rules.short_name.empty()) entry["shortNames"] = text::Array{text::Json(rules.short_name)};
  if (rules.is_in_all) entry["categories"] = text::Array{"all"};
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
      resources.push_back(
          SubresourceEntry(*resource, "exec", "PodExecOptions", text::Array{"create", "get"}));
      resources.push_back(SubresourceEntry(*resource, "portforward", "PodPortForwardOptions",
                                           text::Array{"create", "get"}));
      resources.push_back(SubresourceEntry(*resource, "binding", "Binding", text::Array{"create"}));
    }
    if (RulesOf(*resource).can_scale) {
      text::Json scale =
          SubresourceEntry(*resource, "scale", "Scale", text::Array{"get", "patch", "update"});
      text::Set(scale, {"group"}, "autoscaling");
      text::Set(scale, {"version"}, "v1");
      resources.push_back(std::move(scale));
    }
  }
  for (const Review& review : kReviews) {
    if (review.group != group || version != kReviewVersion) continue;
    resources.push_back(text::Object{{"name", review.plural},
                                     {"singularName", base::ToLower(review.kind)},
                                     {"namespaced", false},
                                     {"kind", review.kind},
                                     {"verbs", text::Array{"create"}}});
  }
  if (group == kDefinitionGroup && version == kDefinitionVersion) {
    resources.push_back(text::Object{{"name", kDefinitionPlural},
                                     {"singularName", base::ToLower(kDefinitionKind)},
                                     {"namespaced", false},
                                     {"kind", kDefinitionKind},
                                     {"verbs", text::Array{"get", "list"}},
                                     {"shortNames", text::Array{"crd", "crds"}}});
  }
  return text::Object{
      {"kind", "APIResourceList"},
      {"apiVersion", "v1"},
      {"groupVersion", group.empty() ? std::string(version) : fmt::format("{}/{}", group, version)},
      {"resources", std::move(resources)}};
}

// All served groups, the core group first.
std::vector<std::string_view> Groups() {
  std::vector<std::string_view> groups = {""};
  const auto add = [&](std::string_view group) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  };
  for (const api::Resource* resource : api::AllResources()) add(resource->group);
  for (const Review& review : kReviews) add(review.group);
  add(kDefinitionGroup);
  return groups;
}

std::vector<std::string_view> VersionsOf(std::string_view group) {
  std::vector<std::string_view> versions;
  const auto add = [&](std::string_view version) {
    if (std::find(versions.begin(), versions.end(), version) == versions.end()) {
      versions.push_back(version);
    }
  };
  for (const api::Resource* resource : api::AllResources()) {
    if (resource->group == group) add(resource->version);
  }
  for (const Review& review : kReviews) {
    if (review.group == group) add(kReviewVersion);
  }
  if (group == kDefinitionGroup) add(kDefinitionVersion);
  return versions;
}

text::Json Group(std::string_view group) {
  text::Array versions;
  for (const std::string_view version : VersionsOf(group)) {
    versions.push_back(
        text::Object{{"groupVersion", fmt::format("{}/{}", group, version)}, {"version", version}});
  }
  if (versions.empty()) return nullptr;
  text::Json preferred = versions.front();
  return text::Object{{"name", group},
                      {"versions", std::move(versions)},
                      {"preferredVersion", std::move(preferred)}};
}

text::Json GroupList() {
  text::Array groups;
  for (const std::string_view group : Groups()) {
    if (!group.empty()) groups.push_back(Group(group));
  }
  return text::Object{
      {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

// Converts a resource (or subresource) of an APIResourceList to aggregated discovery.
text::Json Discovered(const text::Json& entry, std::string_view group, std::string_view version) {
  const text::Json* own_group = text::Find(entry, {"group"});
  const std::string_view own_version = text::GetString(entry, {"version"});
  const std::string_view name = text::GetString(entry, {"name"});
  const size_t slash = name.find('/');
  text::Object out;
  out[slash == std::string_view::npos ? "resource" : "subresource"] =
      slash == std::string_view::npos ? name : name.substr(slash + 1);
  out["responseKind"] =
      text::Object{{"group", own_group == nullptr ? text::Json(group) : *own_group},
                   {"version", own_version.empty() ? version : own_version},
                   {"kind", text::GetString(entry, {"kind"})}};
  out["verbs"] = *text::Find(entry, {"verbs"});
  if (slash != std::string_view::npos) return out;
  out["scope"] = text::GetBool(entry, {"namespaced"}).value_or(false) ? "Namespaced" : "Cluster";
  out["singularResource"] = text::GetString(entry, {"singularName"});
  for (const char* key : {"shortNames", "categories"}) {
    if (const text::Json* value = text::Find(entry, {key})) out[key] = *value;
  }
  return out;
}

text::Json DiscoveredGroup(std::string_view group) {
  text::Array versions;
  for (const std::string_view version : VersionsOf(group)) {
    text::Array resources;
    const text::Json list = ResourceList(group, version);
    for (const text::Json& entry : *text::FindArray(list, {"resources"})) {
      text::Json found = Discovered(entry, group, version);
      if (found.get_object().contains("resource")) {
        resources.push_back(std::move(found));
        continue;
      }
      text::Json& owner = text::Ensure(resources.back(), {"subresources"});
      if (!owner.is_array()) owner = text::Array{};
      owner.get_array().push_back(std::move(found));
    }
    versions.push_back(text::Object{
        {"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  return text::Object{{"metadata", text::Object{{"name", group}, {"creationTimestamp", nullptr}}},
                      {"versions", std::move(versions)}};
}

// The core group for /api, the others for /apis; nullopt when the client does not ask for
// aggregated discovery.
std::optional<net::HttpResponse> DiscoverAll(bool is_core, std::string_view accept) {
  for (const std::string& offer : base::Split(accept, ',')) {
    if (offer.find("as=APIGroupDiscoveryList") == std::string::npos) continue;
    const std::string_view version =
        offer.find("v=v2beta1") == std::string::npos ? "v2" : "v2beta1";
    text::Array items;
    for (const std::string_view group : Groups()) {
      if (group.empty() == is_core) items.push_back(DiscoveredGroup(group));
    }
    net::HttpResponse response = JsonResponse(
        200,
        text::ToJson(text::Object{{"kind", "APIGroupDiscoveryList"},
                                  {"apiVersion", fmt::format("apidiscovery.k8s.io/{}", version)},
                                  {"metadata", text::Object{}},
                                  {"items", std::move(items)}}));
    response.headers = {
        {"Content-Type",
         fmt::format("application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList",
                     version)},
        {"Vary", "Accept"}};
    return response;
  }
  return std::nullopt;
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

std::optional<net::HttpResponse> Discover(const net::Target& target, std::string_view accept) {
  const auto& path = target.segments;
  if (path.empty()) return std::nullopt;
  if (path[0] == "healthz" || path[0] == "readyz" || path[0] == "livez") {
    return net::HttpResponse{200, {{"Content-Type", "text/plain; charset=utf-8"}}, "ok"};
  }
  if (path[0] == "version" && path.size() == 1) return Ok(Version());
  if (path.size() == 1 && (path[0] == "api" || path[0] == "apis")) {
    if (auto all = DiscoverAll(path[0] == "api", accept)) return all;
  }
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
