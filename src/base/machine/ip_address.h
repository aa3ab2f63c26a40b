// Numeric addresses of IPv4 and IPv6, and the networks that contain them.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace base {

struct IpAddress {
  std::array<uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
  bool is_v4 = false;

  bool IsLoopback() const;
  // `network`: "10.0.0.0/8". False for a network of the other family, and for a malformed one.
  bool IsIn(std::string_view network) const;
  bool operator==(const IpAddress&) const = default;
};

std::optional<IpAddress> ParseIpAddress(std::string_view text);

// For bind and connect.
struct SocketAddress {
  SocketAddress(const IpAddress& address, uint16_t port);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr_storage storage{};
  socklen_t size = 0;
};

}  // namespace base
