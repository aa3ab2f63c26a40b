#include "net/client_connection.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "net/http_message.h"

namespace net {
namespace {

constexpr size_t kReadBytes = 64 << 10;

// For poll(2), rounded up; -1 is for ever.
int MillisUntil(ClientConnection::Deadline deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace

std::unique_ptr<ClientConnection> ClientConnection::Over(base::Fd socket) {
  return std::unique_ptr<ClientConnection>(new ClientConnection(std::move(socket)));
}

base::Status ClientConnection::Wait(short events, Deadline deadline) {
  std::array<pollfd, 2> fds{pollfd{socket_.get(), events, 0}, pollfd{cancel_.get(), POLLIN, 0}};
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

base::Status ClientConnection::Write(const HttpRequest& request, size_t body_limit,
                                     Deadline deadline) {
  parser_ = MessageParser(MessageParser::Kind::kResponse, body_limit);
  body_limit_ = body_limit;
  is_head_request_ = request.method == "HEAD";
  if (is_head_request_) parser_.ExpectNoBody();
  has_answer_begun_ = false;

  const std::string head = FormatRequestHead(request);
  size_t written = 0;
  while (written < head.size() + request.body.size()) {
    const size_t head_from = std::min(written, head.size());
    const size_t body_from = written - head_from;
    std::array<iovec, 2> parts{
        iovec{const_cast<char*>(head.data()) + head_from, head.size() - head_from},
        iovec{const_cast<char*>(request.body.data()) + body_from, request.body.size() - body_from}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      written += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      TRY(Wait(POLLOUT, deadline));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return {};
    } else if (errno != EINTR) {
      return base::Fail(base::Errno(errno, "send request"));
    }
  }
  return {};
}

base::Status ClientConnection::Feed(std::string_view input) {
  TRY_ASSIGN(const size_t used, parser_.Feed(input));
  input_ = std::string(input.substr(used));
  return {};
}

base::Status ClientConnection::ReadSome(Deadline deadline) {
  if (parser_.is_done()) return {};
  std::array<char, kReadBytes> buffer;
  ssize_t count = 0;
  while ((count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT)) <= 0) {
    if (count == 0 || errno == ECONNRESET) return parser_.End();
    if (errno == EAGAIN) {
      TRY(Wait(POLLIN, deadline));
    } else if (errno != EINTR) {
      return base::Fail(base::Errno(errno, "receive answer"));
    }
  }
  has_answer_begun_ = true;
  const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
  return input_.empty() ? Feed(bytes) : Feed(input_ + std::string(bytes));
}

base::Status ClientConnection::ReadHeader(Deadline deadline) {
  while (true) {
    while (!parser_.has_header()) TRY(ReadSome(deadline));
    const int status = parser_.message().status;
    if (status >= 200 || status == kSwitchingProtocols) return {};
    parser_ = MessageParser(MessageParser::Kind::kResponse, body_limit_);
    if (is_head_request_) parser_.ExpectNoBody();
    TRY(Feed(std::exchange(input_, {})));
  }
}

base::Status ClientConnection::ReadBody(Deadline deadline) {
  while (!parser_.is_done()) TRY(ReadSome(deadline));
  return {};
}

base::Result<std::optional<std::string>> ClientConnection::ReadRaw() {
  if (!input_.empty()) return std::optional(std::exchange(input_, {}));
  std::string bytes(kReadBytes, '\0');
  while (true) {
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes.resize(static_cast<size_t>(count));
      return std::optional(std::move(bytes));
    }
    if (count == 0 || errno == ECONNRESET) return std::optional<std::string>();
    if (errno == EAGAIN) {
      TRY(Wait(POLLIN, std::nullopt));
    } else if (errno != EINTR) {
      return base::Fail(base::Errno(errno, "receive"));
    }
  }
}

base::Status ClientConnection::WriteRaw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      TRY(Wait(POLLOUT, std::nullopt));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return base::Fail(base::Code::kUnavailable, "the server has closed the connection");
    } else if (errno != EINTR) {
      return base::Fail(base::Errno(errno, "send"));
    }
  }
  return {};
}

bool ClientConnection::IsReusable() const {
  if (!parser_.is_done() || !parser_.keeps_alive() || !input_.empty() || cancel_) return false;
  char byte = 0;
  return ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

base::Status ClientConnection::MakeCancellable() {
  cancel_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!cancel_) return base::Fail(base::Errno(errno, "eventfd"));
  return {};
}

void ClientConnection::Cancel() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(cancel_.get(), &one, sizeof one);
}

}  // namespace net
