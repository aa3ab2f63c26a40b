#include "base/machine/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>
#include <string>

#include "base/strings.h"

namespace base {
namespace {

constexpr size_t kV4Begin = 12;  // of the bytes
constexpr int64_t kV4Bits = 32;
constexpr int64_t kBits = 128;

}  // namespace

std::optional<IpAddress> ParseIpAddress(std::string_view text) {
  const std::string zero_ended(text);
  IpAddress address;
  if (::inet_pton(AF_INET, zero_ended.c_str(), address.bytes.data() + kV4Begin) == 1) {
    address.bytes[10] = address.bytes[11] = 0xff;
    address.is_v4 = true;
    return address;
  }
  if (::inet_pton(AF_INET6, zero_ended.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

bool IpAddress::IsLoopback() const {
  return is_v4 ? bytes[kV4Begin] == 127 : *this == ParseIpAddress("::1");
}

bool IpAddress::IsIn(std::string_view network) const {
  const size_t slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const auto first = ParseIpAddress(network.substr(0, slash));
  auto bits = ParseInt(network.substr(slash + 1));
  if (!first || !bits || first->is_v4 != is_v4) return false;
  if (*bits < 0 || *bits > (is_v4 ? kV4Bits : kBits)) return false;
  if (is_v4) *bits += kBits - kV4Bits;
  for (int64_t bit = 0; bit < *bits; ++bit) {
    const auto byte = static_cast<size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((bytes[byte] & mask) != (first->bytes[byte] & mask)) return false;
  }
  return true;
}

SocketAddress::SocketAddress(const IpAddress& address, uint16_t port) {
  if (address.is_v4) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, address.bytes.data() + kV4Begin, sizeof v4.sin_addr);
    size = sizeof v4;
    return;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
  size = sizeof v6;
}

}  // namespace base
