#include "local/node/plan/environment.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "api/names.h"
#include "api/object.h"
#include "base/quantity.h"

namespace local::node {

namespace {

using text::GetString;

bool IsOptional(const text::Json& reference) {
  return text::GetBool(reference, {"optional"}).value_or(false);
}

// "metadata.labels['key']" with prefix "metadata.labels" -> "key".
std::optional<std::string_view> Subscript(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 4) return std::nullopt;
  return path.substr(2, path.size() - 4);
}

struct Value {
  std::optional<std::string> text;  // nullopt: optional and absent
};

OrNotReady<Value> SourceValue(const PodFacts& facts, const text::Json& container,
                              const text::Json& source, const PodObjects& objects) {
  const std::string_view namespace_name = api::Namespace(facts.pod);
  for (const auto& [field, resource] : {std::pair("configMapKeyRef", &api::kConfigMaps),
                                        std::pair("secretKeyRef", &api::kSecrets)}) {
    const text::Json* reference = text::Find(source, {field});
    if (reference == nullptr) continue;
    auto value = ValueOf(objects, {resource, std::string(GetString(*reference, {"name"}))},
                         GetString(*reference, {"key"}), namespace_name, IsOptional(*reference));
    if (!value) return tl::unexpected<NotReady>(std::move(value.error()));
    return Value{std::move(*value)};
  }
  OrNotReady<std::string> value = ConfigError("unknown source of an environment variable");
  if (text::Find(source, {"fieldRef"}) != nullptr) {
    value = FieldValue(facts, GetString(source, {"fieldRef", "fieldPath"}));
  } else if (const text::Json* reference = text::Find(source, {"resourceFieldRef"})) {
    value = ResourceValue(facts, container, *reference);
  }
  if (!value) return tl::unexpected<NotReady>(std::move(value.error()));
  return Value{std::move(*value)};
}

OrNotReady<EnvList> VariablesFromObjects(const text::Json& container, const PodObjects& objects) {
  EnvList list;
  for (const text::Json& source : text::Items(container, {"envFrom"})) {
    const std::string prefix(GetString(source, {"prefix"}));
    for (const auto& [field, resource] :
         {std::pair("configMapRef", &api::kConfigMaps), std::pair("secretRef", &api::kSecrets)}) {
      const text::Json* reference = text::Find(source, {field});
      if (reference == nullptr) continue;
      auto values = ValuesOf(objects, {resource, std::string(GetString(*reference, {"name"}))},
                             IsOptional(*reference));
      if (!values) return tl::unexpected<NotReady>(std::move(values.error()));
      for (auto& [key, value] : *values) {
        // kubelet leaves out keys that are not valid names of variables.
        if (api::IsVariableName(prefix + key)) list.emplace_back(prefix + key, std::move(value));
      }
    }
  }
  return list;
}

const text::Json* FindContainer(const text::Json& pod, std::string_view name) {
  for (std::string_view list : {"containers", "initContainers"}) {
    const text::Json* const container = text::ItemNamed(pod, {"spec", list}, name);
    if (container != nullptr) return container;
  }
  return nullptr;
}

// A quantity is a string or a number.
std::optional<int64_t> QuantityMilli(const text::Json* value) {
  if (value == nullptr) return std::nullopt;
  const auto parsed = base::ParseQuantityMilli(text::ToText(*value));
  if (!parsed) return std::nullopt;
  return *parsed;
}

}  // namespace

std::string ExpandVariables(std::string_view text,
                            const std::map<std::string, std::string>& variables) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    const size_t close = text[i + 1] == '(' ? text.find(')', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += '$';
      continue;
    }
    const auto it = variables.find(std::string(text.substr(i + 2, close - i - 2)));
    out += it == variables.end() ? std::string(text.substr(i, close - i + 1)) : it->second;
    i = close;
  }
  return out;
}

OrNotReady<std::string> FieldValue(const PodFacts& facts, std::string_view path) {
  const text::Json& pod = facts.pod;
  if (path == "metadata.name") return std::string(api::Name(pod));
  if (path == "metadata.namespace") return std::string(api::Namespace(pod));
  if (path == "metadata.uid") return std::string(api::Uid(pod));
  if (path == "spec.nodeName") return std::string(facts.node_name);
  if (path == "spec.serviceAccountName") {
    const std::string_view name = GetString(pod, {"spec", "serviceAccountName"});
    return std::string(name.empty() ? "default" : name);
  }
  for (std::string_view address :
       {"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}) {
    if (path == address) return std::string(facts.ip);
  }
  if (const auto key = Subscript(path, "metadata.labels")) {
    return std::string(api::Label(pod, *key));
  }
  if (const auto key = Subscript(path, "metadata.annotations")) {
    return std::string(api::Annotation(pod, *key));
  }
  return ConfigError(fmt::format("unsupported fieldPath: {}", path));
}

OrNotReady<std::string> ResourceValue(const PodFacts& facts, const text::Json& container,
                                      const text::Json& reference) {
  const std::string_view name = GetString(reference, {"containerName"});
  const text::Json* of = name.empty() ? &container : FindContainer(facts.pod, name);
  if (of == nullptr) return ConfigError(fmt::format("container {} not found", name));
  const std::string_view resource = GetString(reference, {"resource"});
  const size_t dot = resource.find('.');
  const std::string_view kind = resource.substr(0, dot);
  const std::string_view what =
      dot == std::string_view::npos ? std::string_view() : resource.substr(dot + 1);
  if ((kind != "limits" && kind != "requests") || what.empty()) {
    return ConfigError(fmt::format("unsupported container resource: {}", resource));
  }
  std::optional<int64_t> milli = QuantityMilli(text::Find(*of, {"resources", kind, what}));
  if (!milli && kind == "limits") {  // unlimited means all that the node has
    if (what == "cpu") milli = facts.node_cpu_milli;
    if (what == "memory") milli = facts.node_memory * 1000;
  }
  const int64_t divisor =
      std::max<int64_t>(1, QuantityMilli(text::Find(reference, {"divisor"})).value_or(1000));
  const int64_t value = milli.value_or(0);
  return std::to_string(value / divisor + (value % divisor > 0 ? 1 : 0));
}

OrNotReady<EnvList> ContainerVariables(const PodFacts& facts, const text::Json& container,
                                       const PodObjects& objects) {
  auto list = VariablesFromObjects(container, objects);
  if (!list) return list;
  // A value may refer to earlier entries of `env`, but not to envFrom (kubelet's rule).
  std::map<std::string, std::string> known;
  for (const text::Json& variable : text::Items(container, {"env"})) {
    std::string name(GetString(variable, {"name"}));
    std::string value;
    if (const text::Json* source = text::Find(variable, {"valueFrom"});
        source != nullptr && source->is_object()) {
      auto resolved = SourceValue(facts, container, *source, objects);
      if (!resolved) return tl::unexpected<NotReady>(std::move(resolved.error()));
      if (!resolved->text) continue;
      value = std::move(*resolved->text);
    } else {
      value = ExpandVariables(GetString(variable, {"value"}), known);
    }
    known[name] = value;
    list->emplace_back(std::move(name), std::move(value));
  }
  return list;
}

std::vector<std::string> CommandLine(const text::Json& container, const EnvList& variables) {
  std::vector<std::string> line;
  std::map<std::string, std::string> known;
  for (const auto& [name, value] : variables) known[name] = value;
  for (const char* list : {"command", "args"}) {
    for (const text::Json& word : text::Items(container, {list})) {
      if (word.is_string()) line.push_back(ExpandVariables(word.get_string(), known));
    }
  }
  return line;
}

}  // namespace local::node
