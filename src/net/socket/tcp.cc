#include "net/socket/tcp.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
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

// Attempts under way, side by side.
class Attempts {
 public:
  Attempts(const std::string& context, Clock::time_point deadline)
      : context_(context), deadline_(deadline) {}

  bool is_empty() const { return waiting_.empty(); }
  // nullopt: it is in progress, or has failed.
  base::Result<std::optional<base::Fd>> Begin(const addrinfo& address);
  // Blocks until one has connected, all have failed (nullopt), or `until` has come.
  base::Result<std::optional<base::Fd>> Await(Clock::time_point until);
  // The error of the attempt that failed last.
  base::Error Why() const;

 private:
  std::optional<base::Fd> TakeReady();

  const std::string& context_;
  const Clock::time_point deadline_;
  std::vector<base::Fd> sockets_;
  std::vector<pollfd> waiting_;  // for each of sockets_
  int reason_ = ETIMEDOUT;
};

base::Result<std::optional<base::Fd>> Attempts::Begin(const addrinfo& address) {
  base::Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0)
    return std::optional(std::move(fd));
  if (errno == EINPROGRESS) {
    waiting_.push_back({fd.get(), POLLOUT, 0});
    sockets_.push_back(std::move(fd));
  } else {
    reason_ = errno;
  }
  return std::optional<base::Fd>();
}

base::Result<std::optional<base::Fd>> Attempts::Await(Clock::time_point until) {
  until = std::min(until, deadline_);
  while (!is_empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    const int ready = ::poll(waiting_.data(), waiting_.size(),
                             static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready < 0 && errno != EINTR) return base::Fail(base::Errno(errno, context_));
    if (ready == 0) break;
    if (ready < 0) continue;
    if (std::optional<base::Fd> connected = TakeReady()) return connected;
  }
  return std::optional<base::Fd>();
}

std::optional<base::Fd> Attempts::TakeReady() {
  for (size_t i = sockets_.size(); i-- > 0;) {
    if (waiting_[i].revents == 0) continue;
    base::Fd fd = std::move(sockets_[i]);
    const auto at = static_cast<std::ptrdiff_t>(i);
    sockets_.erase(sockets_.begin() + at);
    waiting_.erase(waiting_.begin() + at);
    int reason = 0;
    socklen_t size = sizeof reason;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &reason, &size) != 0) reason = errno;
    if (reason == 0) return fd;
    reason_ = reason;
  }
  return std::nullopt;
}

base::Error Attempts::Why() const {
  const int reason = is_empty() ? reason_ : ETIMEDOUT;
  base::Error error = base::Errno(reason, context_);
  if (reason == ENETUNREACH || reason == EHOSTUNREACH) error.code = base::Code::kUnavailable;
  return error;
}

base::Result<base::Fd> MakeBlocking(base::Fd fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return base::Fail(base::Errno(errno, "fcntl"));
  }
  return fd;
}

}  // namespace

base::Result<base::Fd> ConnectToAny(const addrinfo* addresses, const std::string& context,
                                    std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  Attempts attempts(context, deadline);
  for (const addrinfo* address = addresses; address != nullptr; address = address->ai_next) {
    TRY_ASSIGN(std::optional<base::Fd> connected, attempts.Begin(*address));
    if (!connected) {
      const bool is_last = address->ai_next == nullptr;
      TRY_ASSIGN(connected, attempts.Await(is_last ? deadline : Clock::now() + kNextAddress));
    }
    if (connected) return MakeBlocking(std::move(*connected));
    if (Clock::now() >= deadline) break;
  }
  return base::Fail(attempts.Why());
}

base::Result<base::Fd> ConnectToTcp(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout) {
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
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return ConnectToAny(found, context, left);
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
                        fmt::format("{}: \"{}\" is not an IP address", context, candidate));
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
                      fmt::format("\"{}\" is not an address: write HOST:PORT or :PORT", text));
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
