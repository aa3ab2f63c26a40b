#include "local/node/devices/node_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/object.h"

namespace local::node {

namespace {

using text::GetInt;
using text::GetString;

bool Selects(const text::Json& service, const text::Json& pod) {
  const text::Object* selector = text::FindObject(service, {"spec", "selector"});
  if (selector == nullptr || selector->empty()) return false;
  return std::all_of(selector->begin(), selector->end(), [&](const auto& wanted) {
    return wanted.value().is_string() &&
           api::Label(pod, wanted.key()) == std::string_view(wanted.value().get_string());
  });
}

std::optional<int64_t> PortByName(const text::Json& pod, std::string_view name) {
  const text::Array* containers = text::FindArray(pod, {"spec", "containers"});
  if (containers == nullptr) return std::nullopt;
  for (const text::Json& container : *containers) {
    const text::Array* ports = text::FindArray(container, {"ports"});
    if (ports == nullptr) continue;
    for (const text::Json& port : *ports) {
      if (GetString(port, {"name"}) == name) return GetInt(port, {"containerPort"});
    }
  }
  return std::nullopt;
}

// The pod's port that an entry of a Service's ports leads to.
std::optional<int64_t> TargetOf(const text::Json& entry, const text::Json& pod) {
  if (const std::string_view name = GetString(entry, {"targetPort"}); !name.empty()) {
    return PortByName(pod, name);
  }
  const auto target = GetInt(entry, {"targetPort"});
  return target && *target != 0 ? target : GetInt(entry, {"port"});
}

}  // namespace

bool WantsNodePorts(const text::Json& service) {
  const std::string_view type = GetString(service, {"spec", "type"});
  return type == "NodePort" || type == "LoadBalancer";
}

std::vector<NodePort> NodePortsOf(const text::Json& service) {
  std::vector<NodePort> found;
  const text::Array* ports = text::FindArray(service, {"spec", "ports"});
  if (ports == nullptr || !WantsNodePorts(service)) return found;
  for (const text::Json& entry : *ports) {
    found.push_back({fmt::format("service/{}/{}/{}", api::Namespace(service), api::Name(service),
                                 GetInt(entry, {"port"}).value_or(0)),
                     static_cast<int>(GetInt(entry, {"nodePort"}).value_or(0))});
  }
  return found;
}

std::map<int, NodePort> NodePortsOfPod(const text::Json& pod,
                                       const std::vector<text::Json>& services) {
  std::map<int, NodePort> found;
  for (const text::Json& service : services) {
    if (!Selects(service, pod)) continue;
    const std::vector<NodePort> ports = NodePortsOf(service);
    for (size_t i = 0; i < ports.size(); ++i) {
      const auto target = TargetOf(service.at("spec").at("ports").at(i), pod);
      if (target && ports[i].port != 0) found.emplace(static_cast<int>(*target), ports[i]);
    }
  }
  return found;
}

}  // namespace local::node
