#include "local/server/kinds/container_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/quantity.h"
#include "local/server/kinds/name_rules.h"

namespace local::server {
namespace {

constexpr int64_t kLastPort = 65535;
constexpr size_t kMaxPortName = 15;
constexpr std::string_view kPortRule = "must be between 1 and 65535, inclusive";

bool IsPortNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

void CheckPortName(const std::string& field, std::string_view name, Causes& causes) {
  const auto check = [&](bool is_fine, std::string_view why) {
    if (!is_fine) causes.push_back(InvalidValue(field, name, why));
  };
  check(name.size() <= kMaxPortName,
        fmt::format("must be no more than {} characters", kMaxPortName));
  check(std::all_of(name.begin(), name.end(), IsPortNameCharacter),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  check(std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; }),
        "must contain at least one letter (a-z)");
  check(name.find("--") == std::string_view::npos, "must not contain consecutive hyphens");
  check(!name.starts_with('-') && !name.ends_with('-'), "must not begin or end with a hyphen");
}

void CheckPortNumber(const std::string& field, int64_t port, Causes& causes) {
  if (port >= 1 && port <= kLastPort) return;
  causes.push_back(fmt::format("{}: Invalid value: {}: {}", field, port, kPortRule));
}

void CheckPorts(const std::string& of_container, const text::Json& container, Causes& causes) {
  std::set<std::string_view> names;
  const text::Array& ports = text::Items(container, {"ports"});
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string field = fmt::format("{}.ports[{}]", of_container, i);
    if (const std::string_view name = text::GetString(ports[i], {"name"}); !name.empty()) {
      const size_t before = causes.size();
      CheckPortName(field + ".name", name, causes);
      if (causes.size() == before && !names.insert(name).second) {
        causes.push_back(fmt::format("{}.name: Duplicate value: \"{}\"", field, name));
      }
    }
    const int64_t port = text::GetInt(ports[i], {"containerPort"}).value_or(0);
    if (port == 0) {
      causes.push_back(field + ".containerPort: Required value");
    } else {
      CheckPortNumber(field + ".containerPort", port, causes);
    }
    const int64_t host_port = text::GetInt(ports[i], {"hostPort"}).value_or(0);
    if (host_port != 0) CheckPortNumber(field + ".hostPort", host_port, causes);
    const std::string_view protocol = text::GetString(ports[i], {"protocol"});
    if (!protocol.empty()) {
      CheckChoice(field + ".protocol", protocol, {"SCTP", "TCP", "UDP"}, causes);
    }
  }
}

void CheckPullPolicy(const std::string& of_container, const text::Json& container, Causes& causes) {
  const std::string_view policy = text::GetString(container, {"imagePullPolicy"});
  if (policy.empty()) return;
  CheckChoice(of_container + ".imagePullPolicy", policy, {"Always", "IfNotPresent", "Never"},
              causes);
}

void CheckMessagePolicy(const std::string& of_container, const text::Json& container,
                        Causes& causes) {
  const std::string_view policy = text::GetString(container, {"terminationMessagePolicy"});
  if (policy.empty()) return;
  CheckChoice(of_container + ".terminationMessagePolicy", policy, {"File", "FallbackToLogsOnError"},
              causes);
}

bool IsQualified(std::string_view resource) { return resource.find('/') != std::string_view::npos; }

// Of a vendor, such as nvidia.com/gpu: there are only whole ones.
bool IsExtended(std::string_view resource) {
  return IsQualified(resource) && resource.find("kubernetes.io/") == std::string_view::npos;
}

bool IsStandard(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

// Whether a container may use more of it than it requests.
bool MayBeOvercommitted(std::string_view resource) {
  return !IsExtended(resource) && !resource.starts_with("hugepages-");
}

// Of a container's limits or requests; nullopt without that resource.
std::optional<std::string> Amount(const text::Json& container, std::string_view group,
                                  std::string_view resource) {
  const text::Json* const amount = text::Find(container, {"resources", group, resource});
  return amount == nullptr || amount->is_null() ? std::nullopt
                                                : std::optional(text::ToText(*amount));
}

int64_t Milli(const std::string& amount) { return base::ParseQuantityMilli(amount).value_or(0); }

void CheckAmount(const std::string& of_group, std::string_view resource, const std::string& amount,
                 Causes& causes) {
  const std::string field = fmt::format("{}[{}]", of_group, resource);
  if (!IsQualified(resource) && !IsStandard(resource)) {
    for (const std::string_view why : {"must be a standard resource type or fully qualified",
                                       "must be a standard resource for containers"}) {
      causes.push_back(fmt::format("{}: Invalid value: {}: {}", field, resource, why));
    }
  }
  if (Milli(amount) < 0) {
    causes.push_back(InvalidValue(field, amount, "must be greater than or equal to 0"));
  }
  if (IsExtended(resource) && Milli(amount) % 1000 != 0) {
    causes.push_back(InvalidValue(field, amount, "must be an integer"));
  }
}

void CheckResources(const std::string& of_container, const text::Json& container, Causes& causes) {
  const std::string limits = of_container + ".resources.limits";
  const std::string requests = of_container + ".resources.requests";
  for (const auto& [resource, value] : text::Members(container, {"resources", "limits"})) {
    const auto limit = Amount(container, "limits", resource);
    if (!limit) continue;
    CheckAmount(limits, resource, *limit, causes);
    // The request that is not written is the limit.
    if (!Amount(container, "requests", resource)) CheckAmount(requests, resource, *limit, causes);
  }
  for (const auto& [resource, value] : text::Members(container, {"resources", "requests"})) {
    const auto request = Amount(container, "requests", resource);
    if (!request) continue;
    CheckAmount(requests, resource, *request, causes);
    const auto limit = Amount(container, "limits", resource);
    if (!limit) {
      if (!MayBeOvercommitted(resource)) {
        causes.push_back(limits +
                         ": Required value: Limit must be set for non overcommitable resources");
      }
    } else if (!MayBeOvercommitted(resource) && Milli(*request) != Milli(*limit)) {
      causes.push_back(InvalidValue(
          requests, *request,
          fmt::format("must be equal to {} limit of {}", std::string_view(resource), *limit)));
    } else if (Milli(*request) > Milli(*limit)) {
      causes.push_back(InvalidValue(requests, *request,
                                    fmt::format("must be less than or equal to {} limit of {}",
                                                std::string_view(resource), *limit)));
    }
  }
}

void CheckVariables(const std::string& of_container, const text::Json& container, Causes& causes) {
  const text::Array& variables = text::Items(container, {"env"});
  for (size_t i = 0; i < variables.size(); ++i) {
    const std::string field = fmt::format("{}.env[{}]", of_container, i);
    if (text::GetString(variables[i], {"name"}).empty()) {
      causes.push_back(field + ".name: Required value");
    }
    const text::Json* const source = text::Find(variables[i], {"valueFrom"});
    if (source == nullptr || source->is_null()) continue;
    if (!text::GetString(variables[i], {"value"}).empty()) {
      causes.push_back(
          InvalidValue(field + ".valueFrom", "", "may not be specified when `value` is not empty"));
    }
    const text::Object& members = text::Members(*source, {});
    const auto sources = std::count_if(members.begin(), members.end(), [](const auto& member) {
      return !member.value().is_null();
    });
    if (sources == 0) {
      causes.push_back(InvalidValue(field + ".valueFrom", "",
                                    "must specify one of: `fieldRef`, `resourceFieldRef`, "
                                    "`configMapKeyRef` or `secretKeyRef`"));
    } else if (sources > 1) {
      causes.push_back(InvalidValue(field + ".valueFrom", "",
                                    "may not have more than one field specified at a time"));
    }
    for (const std::string_view reference : {"configMapKeyRef", "secretKeyRef"}) {
      if (text::FindObject(*source, {reference}) == nullptr) continue;
      if (text::GetString(*source, {reference, "key"}).empty()) {
        causes.push_back(fmt::format("{}.valueFrom.{}.key: Required value", field, reference));
      }
    }
  }
}

void CheckMounts(const std::string& of_container, const text::Json& pod,
                 const text::Json& container, Causes& causes) {
  std::set<std::string_view> paths;
  const text::Array& mounts = text::Items(container, {"volumeMounts"});
  for (size_t i = 0; i < mounts.size(); ++i) {
    const std::string field = fmt::format("{}.volumeMounts[{}]", of_container, i);
    const std::string_view name = text::GetString(mounts[i], {"name"});
    if (name.empty()) {
      causes.push_back(field + ".name: Required value");
    } else if (text::ItemNamed(pod, {"spec", "volumes"}, name) == nullptr) {
      causes.push_back(fmt::format("{}.name: Not found: \"{}\"", field, name));
    }
    const std::string_view path = text::GetString(mounts[i], {"mountPath"});
    if (path.empty()) {
      causes.push_back(field + ".mountPath: Required value");
    } else if (!paths.insert(path).second) {
      causes.push_back(InvalidValue(field + ".mountPath", path, "must be unique"));
    }
  }
}

}  // namespace

void CheckVolumes(const text::Json& pod, Causes& causes) {
  std::set<std::string_view> names;
  const text::Array& volumes = text::Items(pod, {"spec", "volumes"});
  for (size_t i = 0; i < volumes.size(); ++i) {
    const std::string field = fmt::format("spec.volumes[{}]", i);
    const std::string_view name = text::GetString(volumes[i], {"name"});
    if (name.empty()) {
      causes.push_back(field + ".name: Required value");
    } else {
      CheckUniqueLabel(field + ".name", name, names, causes);
    }
    size_t types = 0;
    for (const auto& [type, source] : text::Members(volumes[i], {})) {
      if (type == "name" || source.is_null()) continue;
      if (++types == 1) continue;
      causes.push_back(fmt::format("{}.{}: Forbidden: may not specify more than 1 volume type",
                                   field, std::string_view(type)));
    }
    for (const auto& [source, member] :
         {std::pair<std::string_view, std::string_view>{"persistentVolumeClaim", "claimName"},
          {"configMap", "name"},
          {"secret", "secretName"},
          {"hostPath", "path"}}) {
      if (text::FindObject(volumes[i], {source}) == nullptr) continue;
      if (!text::GetString(volumes[i], {source, member}).empty()) continue;
      causes.push_back(fmt::format("{}.{}.{}: Required value", field, source, member));
    }
  }
}

void CheckContainers(const text::Json& pod, std::string_view list, Causes& causes) {
  std::set<std::string_view> names;
  if (list == "initContainers") {
    for (const text::Json& container : text::Items(pod, {"spec", "containers"})) {
      names.insert(text::GetString(container, {"name"}));
    }
  }
  const text::Array& containers = text::Items(pod, {"spec", list});
  for (size_t i = 0; i < containers.size(); ++i) {
    const text::Json& container = containers[i];
    const std::string field = fmt::format("spec.{}[{}]", list, i);
    const std::string_view name = text::GetString(container, {"name"});
    if (name.empty()) {
      causes.push_back(field + ".name: Required value");
    } else {
      CheckLabel(field + ".name", name, causes);
      if (!names.insert(name).second) {
        causes.push_back(fmt::format("{}.name: Duplicate value: \"{}\"", field, name));
      }
    }
    if (text::GetString(container, {"image"}).empty()) {
      causes.push_back(field + ".image: Required value");
    }
    CheckPorts(field, container, causes);
    CheckVariables(field, container, causes);
    CheckMounts(field, pod, container, causes);
    CheckPullPolicy(field, container, causes);
    CheckMessagePolicy(field, container, causes);
    CheckResources(field, container, causes);
  }
}

}  // namespace local::server
