// Listening sockets, and the addresses of the peers that they accept.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace rendezvous {

// A numeric address. IPv4 mapped into IPv6 is written as IPv4.
struct Endpoint {
  std::string address;
  uint16_t port = 0;

  // "10.0.0.1:29500", "[fe80::1]:29500".
  std::string ToString() const;
  bool IsLoopback() const;
  bool operator==(const Endpoint&) const = default;
};
Endpoint EndpointOf(const sockaddr_storage& address);

// A bound and listening TCP socket that does not block. Its connections inherit TCP_NODELAY and
// keep-alive.
class Listener {
 public:
  // kThisMachine: reachable only over the loopback addresses of both families (SO_BINDTODEVICE to
  // lo; before Linux 5.7 this needs privileges, and without them it acts as kAnywhere).
  enum class Reach { kAnywhere, kThisMachine };

  // `address` is numeric; empty: all addresses, IPv4 and, if available, IPv6. `port` 0: a free one.
  // When the port is in use: kUnavailable, naming the process that holds it if /proc shows it.
  static base::Result<Listener> Bind(std::string_view address, uint16_t port,
                                     Reach reach = Reach::kAnywhere);

  uint16_t port() const { return port_; }
  int fd() const { return fd_.get(); }
  // Frees the port; what was accepted stays open.
  void Close() { fd_.Reset(); }
  // Accepts the next connection without blocking; kNotFound when none waits, kExhausted when this
  // process has no descriptor left.
  base::Result<base::Fd> Accept(Endpoint& peer) const;

 private:
  Listener(base::Fd fd, uint16_t port) : fd_(std::move(fd)), port_(port) {}
  base::Fd fd_;
  uint16_t port_ = 0;
};

// Allows this process one descriptor more than it has by raising its soft limit towards the hard
// one; false when the hard limit is reached. Children inherit the limit.
bool RaiseDescriptorLimit();
// "this process may open 1024 descriptors (ulimit -n): raise the limit".
std::string DescriptorLimitText();

}  // namespace rendezvous
