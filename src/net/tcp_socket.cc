#include "net/tcp_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace net {
namespace {

using Clock = std::chrono::steady_clock;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// errno of the attempt; 0 when connected.
int AwaitConnected(int fd, Clock::time_point deadline) {
  pollfd waiting{fd, POLLOUT, 0};
  int ready = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    ready = ::poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int reason = 0;
  socklen_t size = sizeof reason;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &size) != 0) return errno;
  return reason;
}

base::Result<base::Fd> ConnectToAddress(const addrinfo& address, const std::string& context,
                                        Clock::time_point deadline) {
  base::Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  int reason = 0;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    reason = errno == EINPROGRESS ? AwaitConnected(fd.get(), deadline) : errno;
  }
  if (reason != 0) {
    base::Error error = base::Errno(reason, context);
    if (reason == ENETUNREACH || reason == EHOSTUNREACH) error.code = base::Code::kUnavailable;
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
  base::Result<base::Fd> socket = base::Fail(base::Code::kNotFound, context + ": no address");
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    socket = ConnectToAddress(*address, context, deadline);
    if (socket || Clock::now() >= deadline) break;
  }
  return socket;
}

}  // namespace net
