#include "api/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/object.h"
#include "base/strings.h"

namespace api {
namespace {

constexpr std::string_view kRolePrefix = "node-role.kubernetes.io/";

base::Result<std::string> KeyedValue(const text::Json& object, std::string_view kind,
                                     std::string_view key, std::string_view plain,
                                     std::string_view encoded) {
  if (const text::Json* const value = text::Find(object, {plain, key});
      value && value->is_string()) {
    return std::string(text::GetString(*value, {}));
  }
  const text::Json* const value = text::Find(object, {encoded, key});
  if (value == nullptr || !value->is_string()) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("{} \"{}\" has no key \"{}\"", kind, Name(object), key));
  }
  auto decoded = base::Base64Decode(text::GetString(*value, {}));
  if (!decoded) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} \"{}\": key \"{}\" is not base64", kind, Name(object), key));
  }
  return *std::move(decoded);
}

}  // namespace

bool IsNodeReady(const text::Json& node) { return TrueCondition(node, "Ready") != nullptr; }

bool IsNodeUnschedulable(const text::Json& node) {
  return text::GetBool(node, {"spec", "unschedulable"}).value_or(false);
}

std::string_view NodeAddress(const text::Json& node, std::string_view type) {
  const text::Json* const address = text::ItemNamed(node, {"status", "addresses"}, type, "type");
  return address == nullptr ? "" : text::GetString(*address, {"address"});
}

std::string NodeRoles(const text::Json& node) {
  std::vector<std::string> roles;
  for (const auto& [key, value] : Labels(node)) {
    if (key.starts_with(kRolePrefix) && key.size() > kRolePrefix.size()) {
      roles.push_back(key.substr(kRolePrefix.size()));
    } else if (key == "kubernetes.io/role" && !value.empty()) {
      roles.push_back(value);
    }
  }
  if (roles.empty()) return "<none>";
  std::sort(roles.begin(), roles.end());
  return base::Join(roles, ",");
}

base::Result<std::string> SecretValue(const text::Json& secret, std::string_view key) {
  return KeyedValue(secret, "secret", key, "stringData", "data");
}

base::Result<std::string> ConfigMapValue(const text::Json& config_map, std::string_view key) {
  return KeyedValue(config_map, "configmap", key, "data", "binaryData");
}

std::vector<std::string> AccessModes(const text::Json& claim) {
  constexpr std::pair<std::string_view, std::string_view> kModes[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"},
  };
  const text::Array* modes = text::FindArray(claim, {"status", "accessModes"});
  if (modes == nullptr) modes = text::FindArray(claim, {"spec", "accessModes"});
  std::vector<std::string> out;
  if (modes == nullptr) return out;
  for (const auto& known : kModes) {
    if (std::any_of(modes->begin(), modes->end(), [&known](const text::Json& mode) {
          return text::GetString(mode, {}) == known.first;
        })) {
      out.emplace_back(known.second);
    }
  }
  return out;
}

std::optional<int> ServicePort(const text::Json& service, std::string_view name) {
  for (const text::Json& port : text::Items(service, {"spec", "ports"})) {
    if (text::GetString(port, {"name"}) != name) continue;
    if (const auto number = text::GetInt(port, {"port"})) return static_cast<int>(*number);
  }
  return std::nullopt;
}

int32_t PriorityValue(const text::Json& priority_class) {
  return static_cast<int32_t>(text::GetInt(priority_class, {"value"}).value_or(0));
}

bool IsGlobalDefault(const text::Json& priority_class) {
  return text::GetBool(priority_class, {"globalDefault"}).value_or(false);
}

EventView ReadEvent(const text::Json& event) {
  EventView out;
  out.is_warning = text::GetString(event, {"type"}) == "Warning";
  out.reason = text::GetString(event, {"reason"});
  out.message = text::GetString(event, {"message"});
  out.component = text::GetString(event, {"source", "component"});
  if (out.component.empty()) out.component = text::GetString(event, {"reportingComponent"});
  out.count =
      text::GetInt(event, {"count"}).value_or(text::GetInt(event, {"series", "count"}).value_or(1));
  const auto created = CreationTime(event);
  const auto happened = GetTime(event, {"eventTime"});
  out.first = GetTime(event, {"firstTimestamp"});
  if (!out.first) out.first = happened ? happened : created;
  out.last = GetTime(event, {"lastTimestamp"});
  if (!out.last) out.last = GetTime(event, {"series", "lastObservedTime"});
  if (!out.last) out.last = out.first;
  out.object_kind = text::GetString(event, {"involvedObject", "kind"});
  out.object_namespace = text::GetString(event, {"involvedObject", "namespace"});
  out.object_name = text::GetString(event, {"involvedObject", "name"});
  out.object_uid = text::GetString(event, {"involvedObject", "uid"});
  return out;
}

}  // namespace api
