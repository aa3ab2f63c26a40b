#include <fmt/format.h>

#include <cstdint>
#include <set>

#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

void SetServiceDefaults(text::Json& service) {
  SetDefaultText(service, {"spec", "type"}, "ClusterIP");
  text::SetDefault(service, {"spec", "sessionAffinity"}, "None");
  text::Json* ports = text::Find(service, {"spec", "ports"});
  if (ports != nullptr && ports->is_array()) {
    for (text::Json& port : ports->get_array()) {
      if (!port.is_object()) continue;
      SetDefaultText(port, {"protocol"}, "TCP");
      const text::Json* number = text::Find(port, {"port"});
      if (number != nullptr) text::SetDefault(port, {"targetPort"}, text::Json(*number));
    }
  }
  if (text::GetString(service, {"spec", "type"}) == "ExternalName") return;
  text::SetDefault(service, {"spec", "internalTrafficPolicy"}, "Cluster");
}

// Sets its IP families. It gets no cluster IP: pods share this machine's network, and reach each
// other by name.
void SetServiceFamilies(text::Json& service) {
  if (text::GetString(service, {"spec", "type"}) == "ExternalName") return;
  text::SetDefault(service, {"spec", "ipFamilies"}, text::Array{"IPv4"});
  text::SetDefault(service, {"spec", "ipFamilyPolicy"}, "SingleStack");
  const std::string address(text::GetString(service, {"spec", "clusterIP"}));
  if (!address.empty())
    text::SetDefault(service, {"spec", "clusterIPs"}, text::Array{text::Json(address)});
}

void BeginService(text::Json& service) {
  text::Set(service, {"status"}, text::Object{{"loadBalancer", text::Object{}}});
}

void CheckService(const text::Json& service, Causes& causes) {
  const text::Array& ports = text::Items(service, {"spec", "ports"});
  const std::string_view type = text::GetString(service, {"spec", "type"});
  const bool needs_ports =
      type != "ExternalName" && text::GetString(service, {"spec", "clusterIP"}) != "None";
  if (ports.empty() && needs_ports) causes.emplace_back("spec.ports: Required value");
  CheckChoice("spec.type", type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, causes);
  std::set<std::string_view> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string field = fmt::format("spec.ports[{}]", i);
    const std::string_view name = text::GetString(ports[i], {"name"});
    if (name.empty() && ports.size() > 1) {
      causes.push_back(field + ".name: Required value");
    } else if (!name.empty()) {
      CheckUniqueLabel(field + ".name", name, names, causes);
    }
    const int64_t port = text::GetInt(ports[i], {"port"}).value_or(0);
    if (port < 1 || port > UINT16_MAX) {
      causes.push_back(fmt::format(
          "{}.port: Invalid value: {}: must be between 1 and 65535, inclusive", field, port));
    }
    const std::string_view protocol = text::GetString(ports[i], {"protocol"});
    CheckChoice(field + ".protocol", protocol, {"SCTP", "TCP", "UDP"}, causes);
  }
}

constexpr Column kServiceColumns[] = {
    {"Name", "string"},    {"Type", "string"}, {"Cluster-IP", "string"}, {"External-IP", "string"},
    {"Port(s)", "string"}, {"Age", "string"},  {"Selector", "string", 1}};

void ServiceCells(const text::Json& service, base::Time now, Cells& cells) {
  std::vector<std::string> ports;
  for (const text::Json& port : text::Items(service, {"spec", "ports"})) {
    const std::string_view protocol = text::GetString(port, {"protocol"});
    const auto node_port = text::GetInt(port, {"nodePort"});
    ports.push_back(fmt::format("{}{}/{}", text::GetInt(port, {"port"}).value_or(0),
                                node_port ? fmt::format(":{}", *node_port) : "",
                                protocol.empty() ? "TCP" : protocol));
  }
  cells.Text(api::Name(service));
  cells.TextOr(text::GetString(service, {"spec", "type"}), "ClusterIP");
  cells.TextOr(text::GetString(service, {"spec", "clusterIP"}), "<none>");
  cells.TextOr(text::GetString(service, {"spec", "externalName"}), "<none>");
  cells.TextOr(base::Join(ports, ","), "<none>");
  cells.Text(Age(api::CreationTime(service), now));
  cells.Selector(text::Members(service, {"spec", "selector"}));
}

}  // namespace

const KindRules kServiceRules{.name = NameRule::kDns1035Label,
                              .short_name = "svc",
                              .is_in_all = true,
                              .set_defaults = SetServiceDefaults,
                              .begin = BeginService,
                              .fill_in = SetServiceFamilies,
                              .check = CheckService,
                              .columns = kServiceColumns,
                              .cells = ServiceCells};

}  // namespace local::server
