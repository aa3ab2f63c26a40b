#include "local/server/kinds/service_rules.h"

namespace local::server {
namespace {

void SetDefault(text::Json& object, text::Path path, text::Json value) {
  if (text::Find(object, path) == nullptr) text::Set(object, path, std::move(value));
}

}  // namespace

void SetServiceDefaults(text::Json& service) {
  SetDefault(service, {"spec", "type"}, "ClusterIP");
  SetDefault(service, {"spec", "sessionAffinity"}, "None");
  text::Json* ports = text::Find(service, {"spec", "ports"});
  if (ports != nullptr && ports->is_array()) {
    for (text::Json& port : ports->get_array()) {
      if (!port.is_object()) continue;
      SetDefault(port, {"protocol"}, "TCP");
      const text::Json* number = text::Find(port, {"port"});
      if (number != nullptr) SetDefault(port, {"targetPort"}, text::Json(*number));
    }
  }
  if (text::GetString(service, {"spec", "type"}) == "ExternalName") return;
  SetDefault(service, {"spec", "internalTrafficPolicy"}, "Cluster");
}

void SetServiceFamilies(text::Json& service) {
  if (text::GetString(service, {"spec", "type"}) == "ExternalName") return;
  SetDefault(service, {"spec", "ipFamilies"}, text::Array{"IPv4"});
  SetDefault(service, {"spec", "ipFamilyPolicy"}, "SingleStack");
  const std::string address(text::GetString(service, {"spec", "clusterIP"}));
  if (!address.empty())
    SetDefault(service, {"spec", "clusterIPs"}, text::Array{text::Json(address)});
}

}  // namespace local::server
