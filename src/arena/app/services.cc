#include "arena/app/services.h"

#include <fmt/format.h>

#include "api/kinds.h"
#include "api/object.h"
#include "base/log.h"

namespace arena {

std::string IngressHost(const text::Json& service) {
  const text::Array& ingress = text::Items(service, {"status", "loadBalancer", "ingress"});
  if (ingress.empty()) return "";
  const std::string_view ip = text::GetString(ingress[0], {"ip"});
  return std::string(ip.empty() ? text::GetString(ingress[0], {"hostname"}) : ip);
}

int64_t FirstPort(const text::Json& service, std::string_view field) {
  const text::Array& ports = text::Items(service, {"spec", "ports"});
  return ports.empty() ? 0 : text::GetInt(ports[0], {field}).value_or(0);
}

base::Result<std::string> FindServiceProxy(cluster::Client& client,
                                           std::initializer_list<ServiceChoice> choices) {
  for (const ServiceChoice& choice : choices) {
    cluster::ListOptions options;
    options.label_selector = choice.label_selector;
    const auto found = client.List(api::kServices, options);
    if (!found && found.error().code == base::Code::kPermissionDenied) {
      base::LogDebug("services {} are not looked for: {}", choice.label_selector,
                     found.error().message);
      return std::string();
    }
    if (!found) return base::Fail(found.error());
    if (found->items.empty()) continue;
    const text::Json& service = found->items[0];
    const std::string port =
        choice.port.empty() ? std::to_string(FirstPort(service, "port")) : std::string(choice.port);
    return fmt::format("/api/v1/namespaces/{}/services/http:{}:{}/proxy", api::Namespace(service),
                       api::Name(service), port);
  }
  return std::string();
}

}  // namespace arena
