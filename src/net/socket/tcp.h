// TCP sockets that connect or listen.
#pragma once

#include <netdb.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace net {

// A connected, blocking socket to the first address of `host` that answers within `timeout`.
// kNotFound if the name has no address, kUnavailable if nobody listens, kTimeout. The timeout does
// not cover the system's resolver.
base::Result<base::Fd> ConnectToTcp(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout);

// The same with known addresses (from getaddrinfo). If one does not answer within kNextAddress, the
// next is tried as well, and the first to answer is taken (RFC 8305).
inline constexpr std::chrono::milliseconds kNextAddress{250};
base::Result<base::Fd> ConnectToAny(const addrinfo* addresses, const std::string& context,
                                    std::chrono::milliseconds timeout);

// A listening, non-blocking socket. `host` is a literal address; "" for every address of the
// machine, IPv6 and IPv4. `port` 0 takes any free port. kAlreadyExists if the port is taken.
base::Result<base::Fd> ListenOnTcp(const std::string& host, uint16_t port);

// How long a listener pauses after accept ran out of file descriptors or memory.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

// The local port of a TCP socket; 0 for other sockets.
uint16_t LocalPort(int fd);

struct HostPort {
  std::string host;  // "" is every address
  uint16_t port = 0;
};
// ":8080", "127.0.0.1:8080", "[::1]:8080", as Go's listeners write them.
base::Result<HostPort> ParseHostPort(std::string_view text);

// Notices within a minute that a peer has vanished, and sends small messages at once.
void SetKeepAlive(int fd);

}  // namespace net
