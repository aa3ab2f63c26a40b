#include "local/node/plan/objects.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "api/kinds.h"

namespace local::node {

namespace {

using text::GetString;

class Collector {
 public:
  void Add(const api::Resource& resource, std::string_view name) {
    if (!name.empty()) found_.insert({&resource, std::string(name)});
  }
  void AddEnvironment(const text::Json& container) {
    for (const text::Json& source : text::Items(container, {"envFrom"})) {
      Add(api::kConfigMaps, GetString(source, {"configMapRef", "name"}));
      Add(api::kSecrets, GetString(source, {"secretRef", "name"}));
    }
    for (const text::Json& variable : text::Items(container, {"env"})) {
      Add(api::kConfigMaps, GetString(variable, {"valueFrom", "configMapKeyRef", "name"}));
      Add(api::kSecrets, GetString(variable, {"valueFrom", "secretKeyRef", "name"}));
    }
  }
  void AddVolume(const text::Json& volume) {
    Add(api::kConfigMaps, GetString(volume, {"configMap", "name"}));
    Add(api::kSecrets, GetString(volume, {"secret", "secretName"}));
    Add(api::kPersistentVolumeClaims, GetString(volume, {"persistentVolumeClaim", "claimName"}));
    for (const text::Json& source : text::Items(volume, {"projected", "sources"})) {
      Add(api::kConfigMaps, GetString(source, {"configMap", "name"}));
      Add(api::kSecrets, GetString(source, {"secret", "name"}));
    }
  }
  std::vector<Reference> Take() { return {found_.begin(), found_.end()}; }

 private:
  std::set<Reference> found_;
};

NotReady Absent(const Reference& reference) {
  return {"CreateContainerConfigError",
          fmt::format("{} \"{}\" not found", reference.resource->singular, reference.name),
          {reference},
          NotReady::Retry::kNever};
}

base::Result<std::string> Decode(const Reference& reference, const text::Json& object,
                                 std::string_view key) {
  return reference.resource == &api::kSecrets ? api::SecretValue(object, key)
                                              : api::ConfigMapValue(object, key);
}

}  // namespace

std::vector<Reference> ReferencesOf(const text::Json& pod) {
  Collector collector;
  for (std::string_view list : {"initContainers", "containers"}) {
    for (const text::Json& container : text::Items(pod, {"spec", list}))
      collector.AddEnvironment(container);
  }
  for (const text::Json& volume : text::Items(pod, {"spec", "volumes"}))
    collector.AddVolume(volume);
  return collector.Take();
}

OrNotReady<std::optional<std::string>> ValueOf(const PodObjects& objects,
                                               const Reference& reference, std::string_view key,
                                               std::string_view namespace_name, bool is_optional) {
  const auto it = objects.find(reference);
  if (it == objects.end()) {
    if (is_optional) return std::nullopt;
    return tl::unexpected<NotReady>(Absent(reference));
  }
  auto value = Decode(reference, it->second, key);
  if (value) return std::optional(std::move(*value));
  if (is_optional && value.error().code == base::Code::kNotFound) return std::nullopt;
  if (value.error().code != base::Code::kNotFound) return ConfigError(value.error().message);
  return ConfigError(fmt::format("couldn't find key {} in {} {}/{}", key, reference.resource->kind,
                                 namespace_name, reference.name),
                     {reference});
}

OrNotReady<std::map<std::string, std::string>> ValuesOf(const PodObjects& objects,
                                                        const Reference& reference,
                                                        bool is_optional) {
  std::map<std::string, std::string> values;
  const auto it = objects.find(reference);
  if (it == objects.end()) {
    if (is_optional) return values;
    return tl::unexpected<NotReady>(Absent(reference));
  }
  for (std::string_view part : {"data", "stringData", "binaryData"}) {
    for (const auto& entry : text::Members(it->second, {part})) {
      auto value = Decode(reference, it->second, entry.key());
      if (!value) return ConfigError(value.error().message);
      values[std::string(entry.key())] = std::move(*value);
    }
  }
  return values;
}

}  // namespace local::node
