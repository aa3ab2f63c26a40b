// Sockets that listen, and who is at the other end of one that was accepted.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace rendezvous {

// An address as numbers. IPv4 in IPv6 is written as IPv4.
struct Endpoint {
  std::string address;
  uint16_t port = 0;

  // "10.0.0.1:29500", "[fe80::1]:29500".
  std::string ToString() const;
  bool IsLoopback() const;
  bool operator==(const Endpoint&) const = default;
};
Endpoint EndpointOf(const sockaddr_storage& address);

// A bound and listening TCP socket, not blocking. Its connections inherit TCP_NODELAY and
// keep-alive.
class Listener {
 public:
  // kThisMachine: over its loopback addresses alone, of both families (SO_BINDTODEVICE to lo;
  // before Linux 5.7 that takes rights, and without them it is as kAnywhere).
  enum class Reach { kAnywhere, kThisMachine };

  // `address` is numeric; empty: every address, IPv6 where there is any and IPv4. `port` 0: a free
  // one. A port in use: kUnavailable, with the process that holds it where /proc tells.
  static base::Result<Listener> Bind(std::string_view address, uint16_t port,
                                     Reach reach = Reach::kAnywhere);

  uint16_t port() const { return port_; }
  int fd() const { return fd_.get(); }
  // The next connection, not blocking; kNotFound when there is none now, kExhausted when this
  // process has no descriptor left.
  base::Result<base::Fd> Accept(Endpoint& peer) const;

 private:
  Listener(base::Fd fd, uint16_t port) : fd_(std::move(fd)), port_(port) {}
  base::Fd fd_;
  uint16_t port_ = 0;
};

// Lets this process have one more descriptor than it has by raising its soft limit towards the
// hard one; false when that is reached. Children inherit the limit.
bool RaiseDescriptorLimit();
// "this process may have 1024 descriptors (ulimit -n): raise the limit".
std::string DescriptorLimitText();

}  // namespace rendezvous
