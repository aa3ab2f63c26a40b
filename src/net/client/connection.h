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

  // Writes a whole request and prepares for an answer of at most `body_limit` bytes. If the server
  // closes before it has read everything, its answer may still say why: read it.
  base::Status Write(const HttpRequest& request, size_t body_limit, Deadline deadline);
  // Reads up to the end of the final answer's headers (101 is final, other 1xx are not).
  base::Status ReadHeader(Deadline deadline);
  // Reads the whole body.
  base::Status ReadBody(Deadline deadline);
  // Reads more of the body, or its end. After ReadHeader.
  base::Status ReadSome(Deadline deadline);
  MessageParser::Message& message() { return parser_.message(); }
  bool is_done() const { return parser_.is_done(); }

  // After a 101: the next bytes, at least one; nullopt if the server has closed.
  base::Result<std::optional<std::string>> ReadRaw();
  // Writes all of them. kUnavailable if the server is gone.
  base::Status WriteRaw(std::string_view bytes);

  // Whether the socket has taken any byte of the request. If not, it was not carried out.
  bool has_sent() const { return has_sent_; }
  // Whether any byte of the answer has come.
  bool has_answer_begun() const { return has_answer_begun_; }
  // Whether another request may follow, and the server has not hung up in the meantime.
  bool IsReusable() const;

  // Call it before the waits that Cancel is to end.
  base::Status MakeCancellable();
  // Ends the wait in progress, and every later one, with kCancelled.
  void Cancel();

 private:
  explicit ClientConnection(std::unique_ptr<ClientSocket> socket) : socket_(std::move(socket)) {}

  base::Status Wait(short events, Deadline deadline) {
    return AwaitSocket(socket_->fd(), events, deadline, cancel_.get());
  }
  // Keeps what the parser does not use. `input` must not point into input_.
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
