// One connection of an HttpServer.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "net/http/message.h"
#include "net/http/output_queue.h"
#include "net/http/parser.h"
#include "net/http/response_stream.h"
#include "net/http/server.h"

namespace net {

class ServerConnection;

// The most that one read takes; all connections of a loop share the buffer.
inline constexpr size_t kScratchBytes = 64 << 10;

// What the connections of a server share. Only the server's thread uses it; others may post to io.
struct ServerLoop {
  ServerLoop(HttpHandler h, HttpServerOptions o) : handler(std::move(h)), options(o) {}

  boost::asio::io_context io{1};
  HttpHandler handler;
  const HttpServerOptions options;
  std::unordered_set<std::shared_ptr<ServerConnection>> connections;
  size_t guests = 0;                   // connections that did not come by the Unix socket
  std::function<void()> on_last_gone;  // when the server stops
  std::array<char, kScratchBytes> scratch{};
};

// One connection. Requests are answered one after the other; a read stays pending all the time, so
// that a peer that hangs up, or only shuts down its sending side, is noticed at once.
//
//   idle --byte--> reading --whole request--> answering --all taken--> idle | closed
//                     `--malformed, too large, too slow--> refusing --> closed
//
// Used by the server's thread only.
class ServerConnection final : public std::enable_shared_from_this<ServerConnection> {
 public:
  // `handler`: null for the loop's. A guest may not be idle for long (ServerLoop::guests).
  ServerConnection(const std::shared_ptr<ServerLoop>& loop,
                   std::shared_ptr<const HttpHandler> handler, bool is_guest)
      : loop_(*loop),
        weak_loop_(loop),
        handler_(std::move(handler)),
        is_guest_(is_guest),
        socket_(loop->io) {}

  void Begin(base::Fd fd);
  // The server stops: an answer that is complete may still be written.
  void Drain();
  void Close();

 private:
  bool IsReadFarAhead() const;
  void WaitReadable();
  void WaitHangUp();
  void ReadOn();  // when it may read again
  void WaitWritable();
  void OnReadable();
  void Input(std::string_view bytes);
  void ParseInput(std::string_view input);
  void Dispatch();
  void Refuse(int status);
  // Replaces the earlier deadline: there is one at a time.
  void SetDeadline(std::chrono::milliseconds wait, void (ServerConnection::*act)());
  void AwaitRequest(std::chrono::milliseconds wait);
  void RequestIsLate();
  void Flush();
  bool PassOn();
  void PutHead(ResponseStream::Head head, const ResponseStream::Output& output, size_t body_bytes);
  void PutFrame(std::string bytes);
  void PutBody(std::vector<std::string> pieces, size_t body_bytes);
  bool WriteSome();
  void AnswerDone();

  ServerLoop& loop_;  // outlives every connection
  const std::weak_ptr<ServerLoop> weak_loop_;
  const std::shared_ptr<const HttpHandler> handler_;
  const bool is_guest_;
  boost::asio::posix::stream_descriptor socket_;
  bool is_closed_ = false;
  bool is_waiting_readable_ = false;
  bool is_waiting_hang_up_ = false;
  bool is_waiting_writable_ = false;

  std::string input_;  // not yet parsed: part of a header, or requests that wait
  std::unique_ptr<MessageParser> parser_;  // while a request is incomplete
  // For a guest's first byte or next request, a whole request, or an answer that was cut short.
  std::optional<boost::asio::steady_timer> deadline_;
  uint64_t deadline_number_ = 0;
  bool is_request_timed_ = false;

  std::shared_ptr<ResponseStream> stream_;  // while a request is answered
  bool is_head_request_ = false;
  bool is_http_1_0_ = false;
  bool is_last_ = false;  // closes after this answer
  bool is_draining_ = false;
  Framing framing_ = Framing::kNone;
  bool is_answer_complete_ = false;  // everything is in output_, or was

  OutputQueue output_;
};

}  // namespace net
