#include "net/curl/proxy.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/strings.h"

namespace net {
namespace {

constexpr uint16_t kSocksPort = 1080;

// IPv4 as ::ffff:a.b.c.d, so that there is one kind.
struct IpAddress {
  std::array<uint8_t, 16> bytes{};
  bool is_v4 = false;
};

std::optional<IpAddress> ParseAddress(std::string_view text) {
  const std::string zero_ended(text);
  IpAddress address;
  if (::inet_pton(AF_INET, zero_ended.c_str(), address.bytes.data() + 12) == 1) {
    address.bytes[10] = address.bytes[11] = 0xff;
    address.is_v4 = true;
    return address;
  }
  if (::inet_pton(AF_INET6, zero_ended.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

bool IsLoopback(const IpAddress& address) {
  if (address.is_v4) return address.bytes[12] == 127;
  std::array<uint8_t, 16> loopback{};
  loopback[15] = 1;
  return address.bytes == loopback;
}

// "10.0.0.0/8"
bool IsInNetwork(const IpAddress& address, std::string_view network) {
  const size_t slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const auto base_address = ParseAddress(network.substr(0, slash));
  auto bits = base::ParseInt(network.substr(slash + 1));
  if (!base_address || !bits || base_address->is_v4 != address.is_v4) return false;
  if (address.is_v4) *bits += 96;
  if (*bits < 0 || *bits > 128) return false;
  for (int64_t bit = 0; bit < *bits; ++bit) {
    const auto byte = static_cast<size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((address.bytes[byte] & mask) != (base_address->bytes[byte] & mask)) return false;
  }
  return true;
}

// Matches one entry of NO_PROXY: an address, a network, a name (which includes its subdomains), or
// `.name` or `*.name` (only the subdomains). All but networks may have a port.
bool Matches(std::string_view entry, const Url& target, const std::optional<IpAddress>& address) {
  if (entry == "*") return true;
  if (address && IsInNetwork(*address, entry)) return true;
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
    const auto named = ParseAddress(host);
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
  const auto address = ParseAddress(target.host);
  if (base::ToLower(target.host) == "localhost" || (address && IsLoopback(*address))) return "";
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
