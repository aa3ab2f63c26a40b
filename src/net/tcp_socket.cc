#include "net/tcp_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "base/strings.h"

namespace net {
namespace {

using Clock = std::chrono::steady_clock;

// A peer that is gone without a word is noticed after 30 s + 3 x 10 s of silence, and 60 s after
// something was sent.
constexpr int kKeepAliveIdle = 30, kKeepAliveInterval = 10, kKeepAliveCount = 3;
constexpr int kSendTimeoutMillis = 60'000;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// errno of the attempt; 0 when connected, ECANCELED once `cancel` is readable.
int AwaitConnected(int fd, Clock::time_point deadline, int cancel) {
  std::array<pollfd, 2> waiting{pollfd{fd, POLLOUT, 0}, pollfd{cancel, POLLIN, 0}};
  int ready = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    ready = ::poll(waiting.data(), waiting.size(),
                   static_cast<int>(std::max<int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  if (waiting[1].revents != 0) return ECANCELED;
  int reason = 0;
  socklen_t size = sizeof reason;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &size) != 0) return errno;
  return reason;
}

base::Result<base::Fd> ConnectToAddress(const addrinfo& address, const std::string& context,
                                        Clock::time_point deadline, int cancel) {
  base::Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  int reason = 0;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    reason = errno == EINPROGRESS ? AwaitConnected(fd.get(), deadline, cancel) : errno;
  }
  if (reason != 0) {
    base::Error error = base::Errno(reason, context);
    if (reason == ENETUNREACH || reason == EHOSTUNREACH) error.code = base::Code::kUnavailable;
    if (reason == ECANCELED) error.code = base::Code::kCancelled;
    return base::Fail(std::move(error));
  }
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return base::Fail(base::Errno(errno, "fcntl"));
  }
  return fd;
}

}  // namespace

base::Result<base::Fd> ConnectToTcp(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout, int cancel) {
  const auto deadline = Clock::now() + timeout;
  const std::string context = fmt::format("connect to {}:{}", host, port);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failure != 0) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("{}: {}", context, ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  base::Result<base::Fd> socket = base::Fail(base::Code::kNotFound, context + ": no address");
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    socket = ConnectToAddress(*address, context, deadline, cancel);
    if (socket || Clock::now() >= deadline) break;
    if (socket.error().code == base::Code::kCancelled) break;
  }
  return socket;
}

base::Result<base::Fd> ListenOnTcp(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  const std::string service = std::to_string(port);
  const std::string context = fmt::format("listen on {}:{}", host, port);
  // "::" takes IPv4 too; machines without IPv6 have no such address.
  std::vector<std::string> hosts = {host};
  if (host.empty()) hosts = {"::", "0.0.0.0"};
  int reason = EADDRNOTAVAIL;
  for (const std::string& candidate : hosts) {
    addrinfo* found = nullptr;
    if (::getaddrinfo(candidate.c_str(), service.c_str(), &hints, &found) != 0) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("{}: \"{}\" is no IP address", context, candidate));
    }
    const std::unique_ptr<addrinfo, FreeAddresses> list(found);
    base::Fd fd(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    const int off = 0;
    if (fd) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd && list->ai_family == AF_INET6 && host.empty()) {
      ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (fd && ::bind(fd.get(), list->ai_addr, list->ai_addrlen) == 0 &&
        ::listen(fd.get(), SOMAXCONN) == 0) {
      return fd;
    }
    reason = errno;
    if (reason == EADDRINUSE) break;
  }
  base::Error error = base::Errno(reason, context);
  if (reason == EADDRINUSE) error.code = base::Code::kAlreadyExists;
  return base::Fail(std::move(error));
}

uint16_t LocalPort(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  return 0;
}

base::Result<HostPort> ParseHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : base::ParseInt(text.substr(colon + 1));
  if (!port || *port < 0 || *port > UINT16_MAX) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("\"{}\" is no address: write HOST:PORT or :PORT", text));
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return HostPort{std::string(host), static_cast<uint16_t>(*port)};
}

void SetKeepAlive(int fd) {
  const auto set = [fd](int level, int name, int value) {
    ::setsockopt(fd, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdle);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveInterval);
  set(IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveCount);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kSendTimeoutMillis);
}

}  // namespace net
