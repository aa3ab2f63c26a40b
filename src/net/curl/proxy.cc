#include "net/curl/proxy.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/machine/ip_address.h"
#include "base/strings.h"

namespace net {
namespace {

constexpr uint16_t kSocksPort = 1080;

// Matches one entry of NO_PROXY: an address, a network, a name (which includes its subdomains), or
// `.name` or `*.name` (only the subdomains). All but networks may have a port.
bool Matches(std::string_view entry, const Url& target,
             const std::optional<base::IpAddress>& address) {
  if (entry == "*") return true;
  if (address && address->IsIn(entry)) return true;
  std::string_view host = entry;
  const size_t colon = entry.rfind(':');
  if (colon != std::string_view::npos && (entry.find(':') == colon || entry.starts_with('['))) {
    const auto port = base::ParseInt(entry.substr(colon + 1));
    if (port) {
      if (*port != target.port) return false;
      host = entry.substr(0, colon);
    }
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (address) {
    const auto named = base::ParseIpAddress(host);
    return named && named->bytes == address->bytes;
  }
  if (host.starts_with("*.")) host.remove_prefix(1);
  const std::string name = base::ToLower(host);
  const std::string wanted = base::ToLower(target.host);
  if (name.starts_with('.')) return wanted.ends_with(name);
  return !name.empty() && (wanted == name || wanted.ends_with("." + name));
}

std::string Variable(const base::Environment& environment, std::string_view name) {
  return environment.GetOr(name, environment.GetOr(base::ToLower(name), ""));
}

}  // namespace

std::string ProxyFor(const Url& target, const base::Environment& environment) {
  std::string proxy =
      Variable(environment, target.scheme == "https" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy.empty()) return "";
  if (proxy.find("://") == std::string::npos) proxy = "http://" + proxy;
  const auto address = base::ParseIpAddress(target.host);
  if (base::ToLower(target.host) == "localhost" || (address && address->IsLoopback())) return "";
  for (const std::string& entry : base::Split(Variable(environment, "NO_PROXY"), ',')) {
    if (Matches(base::Trim(entry), target, address)) return "";
  }
  return proxy;
}

std::string ProxyForCurl(const std::string& proxy) {
  const size_t scheme_end = proxy.find("://");
  if (scheme_end == std::string::npos) return proxy;
  std::string scheme = proxy.substr(0, scheme_end);
  const bool is_socks = scheme == "socks5" || scheme == "socks5h";
  const std::string text = is_socks ? "http" + proxy.substr(scheme_end) : proxy;
  auto url = ParseUrl(text);
  if (!url) return proxy;  // libcurl says what is wrong with it
  if (is_socks) {
    scheme = "socks5h";
    if (!NamesPort(text)) url->port = kSocksPort;
  }
  const std::string login = url->user_info.empty() ? "" : url->user_info + "@";
  return fmt::format("{}://{}{}", scheme, login, url->Authority());
}

}  // namespace net
