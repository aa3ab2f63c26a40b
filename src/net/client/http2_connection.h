// A connection to a server that speaks HTTP/2: an Http2Session on a socket.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "net/client/http2_session.h"
#include "net/socket/client_socket.h"
#include "net/socket/tls.h"

namespace net {

// One thread's. Nothing blocks.
class Http2Connection {
 public:
  using Time = Http2Session::Time;

  // `explain` puts into words why it broke.
  Http2Connection(std::unique_ptr<ClientSocket> socket, std::unique_ptr<Http2Session> session,
                  const ExplainFailure& explain)
      : socket_(std::move(socket)), session_(std::move(session)), explain_(explain) {}

  int fd() const { return socket_->fd(); }
  // What poll(2) is to await.
  short events() const { return static_cast<short>(POLLIN | write_events_); }
  Http2Session& session() { return *session_; }

  // All that the socket takes, or has: what fails ends every request.
  void Write();
  void Read(Time now);

  // No request is to come any more.
  void Retire() { is_retired_ = true; }
  bool IsOpen() const { return !is_retired_ && !failure_ && !session_->IsClosing(); }
  // Nobody needs it.
  bool IsDone() const {
    return failure_ || session_->IsOver() || (!IsOpen() && session_->under_way() == 0);
  }
  // Why it broke, if it did.
  const std::optional<base::Error>& failure() const { return failure_; }
  // When something came last.
  Time heard() const { return heard_; }

 private:
  void Break(base::Error error);

  const std::unique_ptr<ClientSocket> socket_;
  const std::unique_ptr<Http2Session> session_;
  const ExplainFailure& explain_;
  std::string output_;
  size_t written_ = 0;      // of output_
  uint64_t sent_ = 0;       // before output_
  short write_events_ = 0;  // that a write waits for
  Time heard_{};
  bool is_retired_ = false;
  std::optional<base::Error> failure_;
};

}  // namespace net
