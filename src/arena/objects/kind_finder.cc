#include "arena/objects/kind_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/object.h"
#include "arena/objects/rollout.h"
#include "base/strings.h"
#include "net/http/types.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

// Pause between two requests for a kind that has been defined.
constexpr base::Duration kFirstPause = std::chrono::milliseconds(50);
constexpr base::Duration kLongestPause = std::chrono::seconds(2);

// "kubeflow.org" of "kubeflow.org/v1"; "", that of the core, of "v1".
std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

std::string_view VersionOf(std::string_view api_version) {
  return api_version.substr(api_version.find('/') + 1);  // if there is no slash, all of it
}

std::string DiscoveryPath(std::string_view api_version) {
  const std::string version = net::PercentEncode(VersionOf(api_version));
  if (api_version.find('/') == std::string_view::npos) return "/api/" + version;
  return fmt::format("/apis/{}/{}", net::PercentEncode(GroupOf(api_version)), version);
}

}  // namespace

base::Result<const KindFinder::Kinds*> KindFinder::KindsOf(const std::string& api_version) {
  if (const auto found = known_.find(api_version); found != known_.end()) return &found->second;
  TRY_ASSIGN(const std::string body, client_.Raw("GET", DiscoveryPath(api_version)));
  auto list = text::ParseJson(body);
  const text::Array* const resources = list ? text::FindArray(*list, {"resources"}) : nullptr;
  if (resources == nullptr) {
    return Fail(Code::kInternal, fmt::format("{}: the server's answer is not a list of resources",
                                             DiscoveryPath(api_version)));
  }
  std::set<std::string_view> names;  // "pytorchjobs", "pytorchjobs/status"
  for (const text::Json& entry : *resources) names.insert(text::GetString(entry, {"name"}));
  Kinds kinds;
  for (const text::Json& entry : *resources) {
    const std::string plural(text::GetString(entry, {"name"}));
    if (plural.empty() || plural.find('/') != std::string::npos) continue;
    Kind& kind = kinds_.emplace_back();
    kind.group = GroupOf(api_version);
    kind.version = VersionOf(api_version);
    kind.plural = plural;
    kind.kind = text::GetString(entry, {"kind"});
    kind.singular = base::ToLower(kind.kind);
    kind.resource = {kind.group,
                     kind.version,
                     kind.plural,
                     kind.singular,
                     kind.kind,
                     text::GetBool(entry, {"namespaced"}).value_or(false),
                     names.contains(plural + "/status")};
    kinds.push_back(&kind.resource);
  }
  return &(known_[api_version] = std::move(kinds));
}

std::string KindFinder::OtherVersion(std::string_view api_version, std::string_view kind) {
  const std::string_view group = GroupOf(api_version);
  for (const api::Resource* const resource : api::AllResources()) {
    const bool may_be_meant = group.find('.') == std::string_view::npos || resource->group == group;
    if (resource->kind != kind || !may_be_meant || resource->api_version() == api_version) continue;
    std::string version(resource->api_version());
    const auto kinds = KindsOf(version);
    const auto is_it = [kind](const api::Resource* each) { return each->kind == kind; };
    if (kinds && std::any_of((*kinds)->begin(), (*kinds)->end(), is_it)) return version;
  }
  return "";
}

base::Error KindFinder::Missing(std::string_view api_version, std::string_view kind,
                                const Kinds* others) {
  std::string message =
      fmt::format("the {} knows no {} of {}",
                  cluster_is_this_machine_ ? "embedded cluster" : "cluster", kind, api_version);
  if (others != nullptr) {
    for (const api::Resource* const other : *others) {
      if (base::EqualsIgnoreCase(other->kind, kind)) {
        return {Code::kInvalidArgument,
                fmt::format("{}: did you mean kind: {}?", message, other->kind), 0};
      }
    }
  }
  if (const std::string version = OtherVersion(api_version, kind); !version.empty()) {
    message += fmt::format(": did you mean apiVersion: {}?", version);
  } else if (api_version.starts_with("kubeflow.org/") && kind == "PyTorchJob" &&
             !cluster_is_this_machine_) {
    message +=
        ": an administrator installs it with `muster install`, or with Kubeflow's training "
        "operator";
  } else if (cluster_is_this_machine_) {
    message += ": check apiVersion and kind; it has only built-in kinds";
  } else {
    message +=
        ": check apiVersion and kind; the kind of a CustomResourceDefinition exists a moment after "
        "that is applied";
  }
  return {Code::kInvalidArgument, std::move(message), 0};
}

void KindFinder::Expect(const text::Json& definition, std::function<void(base::Duration)> pause) {
  known_.clear();
  expected_.push_back({std::string(text::GetString(definition, {"spec", "group"})),
                       std::string(text::GetString(definition, {"spec", "names", "kind"})),
                       std::string(api::Name(definition))});
  pause_ = std::move(pause);
}

const KindFinder::Definition* KindFinder::DefinitionOf(std::string_view api_version,
                                                       std::string_view kind) const {
  for (const Definition& definition : expected_) {
    if (definition.kind == kind && api_version.starts_with(definition.group + "/")) {
      return &definition;
    }
  }
  return nullptr;
}

std::string KindFinder::WhatDelays(const Definition& definition) {
  const auto resource = FindNow("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  if (!resource) return resource.error().message;
  const auto object = client_.Get(**resource, "", definition.name);
  if (!object) return object.error().message;
  std::string why = MissingCondition(*object, "NamesAccepted");
  return why.empty() ? MissingCondition(*object, "Established") : why;
}

base::Result<const api::Resource*> KindFinder::Find(std::string_view api_version,
                                                    std::string_view kind) {
  auto found = FindNow(api_version, kind);
  const Definition* const definition = DefinitionOf(api_version, kind);
  if (definition == nullptr) return found;
  base::Duration wait = kFirstPause;
  for (base::Duration waited{}; waited < kDefinitionTimeout; waited += wait) {
    if (found || found.error().code != Code::kInvalidArgument) return found;
    if (waited > base::Duration{}) wait = std::min<base::Duration>(2 * wait, kLongestPause);
    pause_(wait);
    known_.clear();
    found = FindNow(api_version, kind);
  }
  if (found) return found;
  const std::string why = WhatDelays(*definition);
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{} s after {} was applied, {}{}{}", kDefinitionTimeout.count(), definition->name,
                  Missing(api_version, kind, nullptr).message, why.empty() ? "" : "; ", why));
}

base::Result<const api::Resource*> KindFinder::FindNow(std::string_view api_version,
                                                       std::string_view kind) {
  const auto kinds = KindsOf(std::string(api_version));
  if (!kinds && kinds.error().code == Code::kNotFound) {
    return Fail(Missing(api_version, kind, nullptr));
  }
  if (!kinds) return Fail(kinds.error().Wrap(fmt::format("find kind {}", kind)));
  for (const api::Resource* const resource : **kinds) {
    if (resource->kind == kind) return resource;
  }
  return Fail(Missing(api_version, kind, *kinds));
}

}  // namespace arena
