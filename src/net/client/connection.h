// ClientConnection: one blocking connection to an HTTP server. One thread at a time; Cancel from
// any. After an upgrade one thread may read while another writes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "net/http/parser.h"
#include "net/http/types.h"
#include "net/socket/client_socket.h"

namespace net {

class ClientConnection {
 public:
  using Deadline = SocketDeadline;

  static std::unique_ptr<ClientConnection> Over(std::unique_ptr<ClientSocket> socket);

  // Writes a whole request and gets ready for its answer of at most `body_limit` bytes. When the
  // server closes instead of reading on, the answer may still tell why: read it.
  base::Status Write(const HttpRequest& request, size_t body_limit, Deadline deadline);
  // Until the headers of the final answer (not 1xx, but 101) are read.
  base::Status ReadHeader(Deadline deadline);
  // Until the whole body is.
  base::Status ReadBody(Deadline deadline);
  // Some more of the body, or its end. After ReadHeader.
  base::Status ReadSome(Deadline deadline);
  MessageParser::Message& message() { return parser_.message(); }
  bool is_done() const { return parser_.is_done(); }

  // After a 101: the bytes that follow it, at least one; nullopt when the server has closed.
  base::Result<std::optional<std::string>> ReadRaw();
  // All of them. kUnavailable when the server is gone.
  base::Status WriteRaw(std::string_view bytes);

  // Whether the socket has taken any byte of the request: what was not sent was not carried out.
  bool has_sent() const { return has_sent_; }
  // Whether any byte of the answer has come.
  bool has_answer_begun() const { return has_answer_begun_; }
  // Whether another request may follow the answer, and the server has not hung up meanwhile.
  bool IsReusable() const;

  // Gives Cancel something to wake. Before the waits that are to be woken.
  base::Status MakeCancellable();
  // Every wait, from now on, fails with kCancelled.
  void Cancel();

 private:
  explicit ClientConnection(std::unique_ptr<ClientSocket> socket) : socket_(std::move(socket)) {}

  base::Status Wait(short events, Deadline deadline) {
    return AwaitSocket(socket_->fd(), events, deadline, cancel_.get());
  }
  // Keeps what the parser does not use. `input` is nothing of input_'s.
  base::Status Feed(std::string_view input);

  std::unique_ptr<ClientSocket> socket_;
  base::Fd cancel_;  // eventfd
  MessageParser parser_{MessageParser::Kind::kResponse, 0};
  size_t body_limit_ = 0;
  bool is_head_request_ = false;
  bool has_sent_ = false;
  bool has_answer_begun_ = false;
  std::string input_;  // not yet parsed
};

}  // namespace net
