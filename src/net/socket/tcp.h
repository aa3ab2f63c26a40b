// TCP sockets: connections to elsewhere, and listening ones.
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
// kNotFound when the name has no address, kUnavailable when nobody listens, kTimeout. Looking a
// name up takes as long as the system's resolver does.
base::Result<base::Fd> ConnectToTcp(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout);

// The same with addresses that are known (getaddrinfo's). One that does not answer is not waited
// for: after kNextAddress the next is tried beside it (RFC 8305), and the first to answer is taken.
inline constexpr std::chrono::milliseconds kNextAddress{250};
base::Result<base::Fd> ConnectToAny(const addrinfo* addresses, const std::string& context,
                                    std::chrono::milliseconds timeout);

// A listening, non-blocking socket. `host` "" is every address of the machine, IPv6 and IPv4; else
// a literal address of either. `port` 0 is any free one. kAlreadyExists when the port is taken.
base::Result<base::Fd> ListenOnTcp(const std::string& host, uint16_t port);

// How long a listener leaves off after accept ran out of file descriptors or memory.
inline constexpr std::chrono::milliseconds kAcceptPause{100};

// The local port of a TCP socket; 0 when it is none.
uint16_t LocalPort(int fd);

struct HostPort {
  std::string host;  // "" is every address
  uint16_t port = 0;
};
// ":8080", "127.0.0.1:8080", "[::1]:8080", as Go's listeners write them.
base::Result<HostPort> ParseHostPort(std::string_view text);

// A peer that is gone without a word is noticed within a minute; small messages go at once.
void SetKeepAlive(int fd);

}  // namespace net
