#include "net/client/connection.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/http/message.h"

namespace net {
namespace {

constexpr size_t kReadBytes = 64 << 10;

}  // namespace

std::unique_ptr<ClientConnection> ClientConnection::Over(std::unique_ptr<ClientSocket> socket) {
  return std::unique_ptr<ClientConnection>(new ClientConnection(std::move(socket)));
}

base::Status ClientConnection::Write(const HttpRequest& request, size_t body_limit,
                                     Deadline deadline) {
  parser_ = MessageParser(MessageParser::Kind::kResponse, body_limit);
  body_limit_ = body_limit;
  is_head_request_ = request.method == "HEAD";
  if (is_head_request_) parser_.ExpectNoBody();
  has_sent_ = false;
  has_answer_begun_ = false;

  const std::string head_text = FormatRequestHead(request);
  std::string_view head = head_text;
  std::string_view body = request.body;
  while (!head.empty() || !body.empty()) {
    TRY_ASSIGN(const SocketStep step, socket_->Send(head, body));
    if (step.wait_for != 0) {
      TRY(Wait(step.wait_for, deadline));
    } else if (step.bytes == 0) {
      return {};
    }
    has_sent_ = has_sent_ || step.bytes > 0;
    const size_t of_head = std::min(step.bytes, head.size());
    head.remove_prefix(of_head);
    body.remove_prefix(step.bytes - of_head);
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
  SocketStep step;
  while (true) {
    TRY_ASSIGN(step, socket_->Receive(buffer.data(), buffer.size()));
    if (step.bytes > 0) break;
    if (step.wait_for == 0) return parser_.End();
    TRY(Wait(step.wait_for, deadline));
  }
  has_answer_begun_ = true;
  const std::string_view bytes(buffer.data(), step.bytes);
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
    TRY_ASSIGN(const SocketStep step, socket_->Receive(bytes.data(), bytes.size()));
    if (step.bytes > 0) {
      bytes.resize(step.bytes);
      return std::optional(std::move(bytes));
    }
    if (step.wait_for == 0) return std::optional<std::string>();
    TRY(Wait(step.wait_for, std::nullopt));
  }
}

base::Status ClientConnection::WriteRaw(std::string_view bytes) {
  while (!bytes.empty()) {
    TRY_ASSIGN(const SocketStep step, socket_->Send(bytes, {}));
    bytes.remove_prefix(step.bytes);
    if (step.wait_for != 0) {
      TRY(Wait(step.wait_for, std::nullopt));
    } else if (step.bytes == 0) {
      return base::Fail(base::Code::kUnavailable, "the server has closed the connection");
    }
  }
  return {};
}

bool ClientConnection::IsReusable() const {
  if (!parser_.is_done() || !parser_.keeps_alive() || !input_.empty() || cancel_) return false;
  return socket_->IsIdle();
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
