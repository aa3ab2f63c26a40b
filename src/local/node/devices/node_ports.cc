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
  const text::Object& selector = text::Members(service, {"spec", "selector"});
  return !selector.empty() && std::ranges::all_of(selector, [&](const auto& wanted) {
    return wanted.value().is_string() &&
           api::Label(pod, wanted.key()) == std::string_view(wanted.value().get_string());
  });
}

std::optional<int64_t> PortByName(const text::Json& pod, std::string_view name) {
  for (const text::Json& container : text::Items(pod, {"spec", "containers"})) {
    const text::Json* const port = text::ItemNamed(container, {"ports"}, name);
    if (port != nullptr) return GetInt(*port, {"containerPort"});
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
  if (!WantsNodePorts(service)) return found;
  for (const text::Json& entry : text::Items(service, {"spec", "ports"})) {
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
