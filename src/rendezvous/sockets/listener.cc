#include "rendezvous/sockets/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/machine/ip_address.h"
#include "rendezvous/sockets/port_owner.h"

namespace rendezvous {
namespace {

// A silent, unreachable peer is noticed after kIdle + kProbes * kInterval seconds.
constexpr int kIdleSeconds = 30;
constexpr int kProbeSeconds = 5;
constexpr int kProbes = 6;

constexpr uint64_t kDescriptorStep = 16384;

void SetOption(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

base::Result<base::Fd> BindTo(const base::IpAddress& address, uint16_t port,
                              Listener::Reach reach) {
  const base::SocketAddress to(address, port);
  base::Fd fd(::socket(to.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  SetOption(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  SetOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(fd.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd.get(), IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  SetOption(fd.get(), IPPROTO_TCP, TCP_KEEPINTVL, kProbeSeconds);
  SetOption(fd.get(), IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  if (reach == Listener::Reach::kThisMachine) {
    constexpr std::string_view kLoopback = "lo";
    ::setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, kLoopback.data(), kLoopback.size());
  }
  if (!address.is_v4) SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd.get(), to.get(), to.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0) {
    return base::Fail(base::Errno(errno, "bind"));
  }
  return fd;
}

}  // namespace

std::string Endpoint::ToString() const {
  const bool is_v6 = address.find(':') != std::string::npos;
  return (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

bool Endpoint::IsLoopback() const { return address.starts_with("127.") || address == "::1"; }

Endpoint EndpointOf(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return {text, ntohs(v4.sin_port)};
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    ::inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  return {text, ntohs(v6.sin6_port)};
}

base::Result<Listener> Listener::Bind(std::string_view address, uint16_t port, Reach reach) {
  const std::string where = Endpoint{std::string(address.empty() ? "*" : address), port}.ToString();
  const auto wanted =
      address.empty() ? std::optional(base::IpAddress()) : base::ParseIpAddress(address);
  if (!wanted) {
    return base::Fail(base::Code::kInvalidArgument,
                      "listen on " + where + ": not a numeric address");
  }
  base::Result<base::Fd> fd = BindTo(*wanted, port, reach);
  // This machine has no IPv6.
  if (!fd && address.empty() && fd.error().os_errno != EADDRINUSE) {
    fd = BindTo(*base::ParseIpAddress("0.0.0.0"), port, reach);
  }
  if (!fd && fd.error().os_errno == EADDRINUSE) {
    const std::string holder = DescribePortOwner(port);
    return base::Fail(base::Error{base::Code::kUnavailable,
                                  "listen on " + where + ": the port is in use" +
                                      (holder.empty() ? "" : " by " + holder) +
                                      "; choose another, or on one node 0 for a free one",
                                  EADDRINUSE});
  }
  if (!fd) return base::Fail(fd.error().Wrap("listen on " + where));
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd->get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return base::Fail(base::Errno(errno, "listen on " + where + ": getsockname"));
  }
  return Listener(std::move(*fd), EndpointOf(bound).port);
}

base::Result<base::Fd> Listener::Accept(Endpoint& peer) const {
  while (true) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int fd = ::accept4(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size,
                             SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      peer = EndpointOf(address);
      return base::Fd(fd);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return base::Fail(base::Code::kNotFound, "no connection is waiting");
    }
    if (errno == EMFILE && RaiseDescriptorLimit()) continue;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return base::Fail(base::Code::kExhausted, "accept: no descriptor left");
    }
    // The connection was closed before it was accepted (accept(2)): take the next one.
    if (errno == EBADF || errno == EINVAL || errno == ENOTSOCK) {
      return base::Fail(base::Errno(errno, "accept"));
    }
  }
}

bool RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, limit.rlim_cur + kDescriptorStep);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

std::string DescriptorLimitText() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return "this process may open " + std::to_string(limit.rlim_cur) +
         " descriptors (ulimit -n): raise the limit";
}

}  // namespace rendezvous
