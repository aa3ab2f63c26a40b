#include "net/socket/client_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

namespace net {
namespace {

bool IsGone(int os_errno) { return os_errno == EPIPE || os_errno == ECONNRESET; }

class UnencryptedSocket final : public ClientSocket {
 public:
  explicit UnencryptedSocket(base::Fd fd) : fd_(std::move(fd)) {}

  int fd() const override { return fd_.get(); }

  base::Result<SocketStep> Receive(char* buffer, size_t size) override {
    while (true) {
      const ssize_t count = ::recv(fd_.get(), buffer, size, MSG_DONTWAIT);
      if (count >= 0) return SocketStep{static_cast<size_t>(count), 0};
      if (errno == EAGAIN) return SocketStep{0, POLLIN};
      if (IsGone(errno)) return SocketStep{};
      if (errno != EINTR) return base::Fail(base::Errno(errno, "receive"));
    }
  }

  base::Result<SocketStep> Send(std::string_view head, std::string_view body) override {
    std::array<iovec, 2> parts{iovec{const_cast<char*>(head.data()), head.size()},
                               iovec{const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    while (true) {
      const ssize_t count = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count >= 0) return SocketStep{static_cast<size_t>(count), 0};
      if (errno == EAGAIN) return SocketStep{0, POLLOUT};
      if (IsGone(errno)) return SocketStep{};
      if (errno != EINTR) return base::Fail(base::Errno(errno, "send"));
    }
  }

  bool IsIdle() const override {
    char byte = 0;
    return ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  const base::Fd fd_;
};

// For poll(2), rounded up; -1 is for ever.
int MillisUntil(SocketDeadline deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace

std::unique_ptr<ClientSocket> PlainSocket(base::Fd fd) {
  return std::make_unique<UnencryptedSocket>(std::move(fd));
}

base::Status AwaitSocket(int fd, short events, SocketDeadline deadline, int cancel) {
  std::array<pollfd, 2> fds{pollfd{fd, events, 0}, pollfd{cancel, POLLIN, 0}};
  while (true) {
    const int ready = ::poll(fds.data(), fds.size(), MillisUntil(deadline));
    if (ready < 0) {
      if (errno == EINTR) continue;
      return base::Fail(base::Errno(errno, "poll"));
    }
    if (ready == 0) return base::Fail(base::Code::kTimeout, "the server did not answer in time");
    if (fds[1].revents != 0) return base::Fail(base::Code::kCancelled, "cancelled");
    return {};
  }
}

}  // namespace net
