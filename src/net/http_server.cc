#include "net/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/log.h"
#include "net/exchange.h"
#include "net/http_message.h"
#include "net/message_parser.h"
#include "net/output_queue.h"
#include "net/tcp_socket.h"
#include "net/unix_socket.h"

namespace net {
namespace {

namespace asio = boost::asio;
using AsioError = boost::system::error_code;
using Descriptor = asio::posix::stream_descriptor;

// One read; the loop's connections share the buffer.
constexpr size_t kScratchBytes = 64 << 10;
// Read ahead of a request that is being answered; the peer waits beyond.
constexpr size_t kMaxPipelinedBytes = 64 << 10;
// Connections taken in a row before others have their turn.
constexpr int kAcceptBurst = 64;
// Capacity that an empty input buffer may keep.
constexpr size_t kIdleInputBytes = 1 << 10;

class Connection;

// What the connections of a server share. Only the server's thread touches it, but for posts.
struct Loop {
  Loop(HttpHandler h, HttpServerOptions o) : handler(std::move(h)), options(o) {}

  asio::io_context io{1};
  HttpHandler handler;
  const HttpServerOptions options;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  std::function<void()> on_last_gone;  // when the server stops
  std::array<char, kScratchBytes> scratch{};
};

// One peer. Requests are answered one after the other; a read stays pending all the while, so that
// a peer that hangs up, or only shuts down its sending side, is noticed at once.
//
//   idle --byte--> reading --whole request--> answering --all taken--> idle | closed
//                     `--malformed, too large, too slow--> refusing --> closed
//
// Driven by the server's thread alone.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  // `handler`: of its own, or null for the loop's.
  Connection(const std::shared_ptr<Loop>& loop, std::shared_ptr<const HttpHandler> handler)
      : loop_(*loop), weak_loop_(loop), handler_(std::move(handler)), socket_(loop->io) {}

  void Begin(base::Fd fd);
  // The server stops: what is complete may still flow out.
  void Drain();
  void Close();

 private:
  bool IsReadFarAhead() const {
    return exchange_ && (input_.size() >= kMaxPipelinedBytes || exchange_->IsFarAhead());
  }
  void WaitReadable();
  void WaitHangUp();
  void ReadOn();  // after what kept it from reading may have gone
  void WaitWritable();
  void OnReadable();
  void Input(std::string_view bytes);
  void ParseInput(std::string_view input);
  void Dispatch();
  void Refuse(int status);
  void StartRequestTimer();
  void Flush();
  void PutHead(Exchange::Head head, const Exchange::Output& output, size_t body_bytes);
  void PutFrame(std::string bytes);
  void PutBody(std::vector<std::string> pieces, size_t body_bytes);
  bool WriteSome();
  void AnswerDone();

  Loop& loop_;  // outlives every connection
  const std::weak_ptr<Loop> weak_loop_;
  const std::shared_ptr<const HttpHandler> handler_;
  Descriptor socket_;
  bool is_closed_ = false;
  bool is_waiting_readable_ = false;
  bool is_waiting_hang_up_ = false;
  bool is_waiting_writable_ = false;

  std::string input_;  // not yet parsed: half a header, or requests that wait their turn
  std::unique_ptr<MessageParser> parser_;  // while a request is half read
  std::optional<asio::steady_timer> request_timer_;
  uint64_t request_number_ = 0;

  std::shared_ptr<Exchange> exchange_;  // while a request is answered
  bool is_head_request_ = false;
  bool is_http_1_0_ = false;
  bool is_last_ = false;  // closes after this answer
  Framing framing_ = Framing::kNone;
  bool is_answer_complete_ = false;  // everything is in output_, or was

  OutputQueue output_;
};

void Connection::Begin(base::Fd fd) {
  AsioError error;
  socket_.assign(fd.get(), error);
  if (error) return Close();
  fd.Release();
  WaitReadable();
}

void Connection::WaitReadable() {
  if (is_closed_ || is_waiting_readable_ || is_waiting_hang_up_) return;
  if (IsReadFarAhead()) return WaitHangUp();
  is_waiting_readable_ = true;
  socket_.async_wait(Descriptor::wait_read, [self = shared_from_this()](AsioError error) {
    self->is_waiting_readable_ = false;
    if (self->is_closed_) return;
    if (error) return self->Close();
    self->OnReadable();
  });
}

// Enough is read ahead: until it is used, only a hang-up matters.
void Connection::WaitHangUp() {
  is_waiting_hang_up_ = true;
  socket_.async_wait(Descriptor::wait_error, [self = shared_from_this()](AsioError error) {
    self->is_waiting_hang_up_ = false;
    if (self->is_closed_) return;
    if (error == asio::error::operation_aborted) return self->WaitReadable();
    self->Close();
  });
}

void Connection::ReadOn() {
  if (is_closed_ || IsReadFarAhead()) return;
  if (!is_waiting_hang_up_) return WaitReadable();
  AsioError ignored;
  socket_.cancel(ignored);  // comes back through WaitHangUp's handler
}

void Connection::WaitWritable() {
  if (is_closed_ || is_waiting_writable_) return;
  is_waiting_writable_ = true;
  socket_.async_wait(Descriptor::wait_write, [self = shared_from_this()](AsioError error) {
    self->is_waiting_writable_ = false;
    if (self->is_closed_) return;
    if (error == asio::error::operation_aborted) return self->WaitWritable();  // by ReadOn
    if (error) return self->Close();
    if (self->WriteSome() && self->is_answer_complete_) self->AnswerDone();
  });
}

void Connection::OnReadable() {
  const ssize_t count =
      ::recv(socket_.native_handle(), loop_.scratch.data(), loop_.scratch.size(), MSG_DONTWAIT);
  if (count > 0) {
    Input({loop_.scratch.data(), static_cast<size_t>(count)});
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    return Close();
  }
  WaitReadable();
}

void Connection::Input(std::string_view bytes) {
  if (is_answer_complete_ && is_last_) return;  // refused or closing: not read any more
  if (framing_ == Framing::kUpgrade) return exchange_->Receive(bytes);
  if (exchange_) {
    input_.append(bytes);
  } else if (input_.empty()) {
    ParseInput(bytes);
  } else {
    input_.append(bytes);
    ParseInput(std::exchange(input_, {}));
  }
}

// Leaves in input_ what no request has used. `input` is nothing of input_'s.
void Connection::ParseInput(std::string_view input) {
  if (!parser_) {
    parser_ = std::make_unique<MessageParser>(MessageParser::Kind::kRequest, kMaxBodyBytes);
  }
  const bool had_header = parser_->has_header();
  const base::Result<size_t> used = parser_->Feed(input);
  if (!used) {
    if (used.error().code != base::Code::kExhausted) return Refuse(400);
    return Refuse(parser_->is_header_too_large() ? 431 : 413);
  }
  input_.assign(input.substr(*used));
  if (input_.empty() && input_.capacity() > kIdleInputBytes) input_.shrink_to_fit();
  if (parser_->is_done()) return Dispatch();
  if (!request_timer_) StartRequestTimer();
  if (!had_header && parser_->has_header() &&
      FindHeader(parser_->message().headers, "Expect") == "100-continue") {
    output_.Push("HTTP/1.1 100 Continue\r\n\r\n");
    WriteSome();
  }
}

void Connection::StartRequestTimer() {
  request_timer_.emplace(loop_.io, loop_.options.request_timeout);
  request_timer_->async_wait([weak = weak_from_this(), n = request_number_](AsioError error) {
    const auto self = weak.lock();
    if (!error && self && self->parser_ && self->request_number_ == n) self->Refuse(408);
  });
}

void Connection::Dispatch() {
  request_timer_.reset();
  ++request_number_;
  MessageParser::Message& message = parser_->message();
  HttpRequest request{std::move(message.method), std::move(message.target),
                      std::move(message.headers), std::move(message.body)};
  is_head_request_ = request.method == "HEAD";
  is_http_1_0_ = message.is_http_1_0;
  is_last_ = !parser_->keeps_alive();
  is_answer_complete_ = false;
  parser_.reset();
  // The exchange never keeps the connection alive: a producer may hold it for long.
  exchange_ = std::make_shared<Exchange>([weak_loop = weak_loop_, weak = weak_from_this()] {
    const auto loop = weak_loop.lock();
    if (!loop) return;
    asio::post(loop->io, [weak] {
      if (const auto self = weak.lock()) self->Flush();
    });
  });
  exchange_->Framed(output_.bytes());
  const HttpHandler& handler = handler_ ? *handler_ : loop_.handler;
  handler(std::move(request), MakeResponder(exchange_));
}

// The connection's own answer to what is no request.
void Connection::Refuse(int status) {
  request_timer_.reset();
  parser_.reset();
  input_.clear();
  is_last_ = true;
  is_answer_complete_ = true;
  std::string body(ReasonPhrase(status));
  body += '\n';
  output_.Push(FormatResponseHead(status, {{"Content-Type", "text/plain"}}, Framing::kLength,
                                  body.size(), true));
  output_.Push(std::move(body));
  if (WriteSome()) Close();
}

void Connection::Flush() {
  if (is_closed_ || !exchange_ || is_answer_complete_) return;
  Exchange::Output output = exchange_->Take();
  if (output.is_broken) return Close();
  size_t body_bytes = 0;
  for (const std::string& piece : output.pieces) body_bytes += piece.size();
  if (output.head) PutHead(std::move(*output.head), output, body_bytes);
  if (is_head_request_ || framing_ == Framing::kNone) {
    exchange_->Taken(body_bytes);
  } else if (body_bytes > 0) {
    PutBody(std::move(output.pieces), body_bytes);
  }
  if (output.is_finished) {
    is_answer_complete_ = true;
    if (framing_ == Framing::kChunked && !is_head_request_) PutFrame(std::string(kLastChunk));
  }
  if (framing_ == Framing::kUpgrade) ReadOn();
  if (WriteSome() && is_answer_complete_) AnswerDone();
}

void Connection::PutHead(Exchange::Head head, const Exchange::Output& output, size_t body_bytes) {
  if (head.is_upgrade) {
    framing_ = Framing::kUpgrade;
    is_last_ = true;
    PutFrame(FormatResponseHead(head.status, head.headers, framing_, 0, false));
    if (!input_.empty()) exchange_->Receive(std::exchange(input_, {}));
    return;
  }
  const bool has_no_body = head.status / 100 == 1 || head.status == 204 || head.status == 304;
  if (has_no_body) {
    framing_ = Framing::kNone;
  } else if (output.is_finished) {
    framing_ = Framing::kLength;
  } else if (is_http_1_0_) {
    framing_ = Framing::kToClose;
    is_last_ = true;
  } else {
    framing_ = Framing::kChunked;
  }
  PutFrame(FormatResponseHead(head.status, head.headers, framing_, body_bytes, is_last_));
}

void Connection::PutFrame(std::string bytes) {
  exchange_->Framed(bytes.size());
  output_.Push(std::move(bytes));
}

// A chunk holds whatever came since the last.
void Connection::PutBody(std::vector<std::string> pieces, size_t body_bytes) {
  const bool is_chunk = framing_ == Framing::kChunked;
  if (is_chunk) PutFrame(FormatChunkHead(body_bytes));
  for (std::string& piece : pieces) output_.Push(std::move(piece));
  if (is_chunk) PutFrame(std::string(kChunkEnd));
}

// Whether everything is written. The connection may be closed when it answers false.
bool Connection::WriteSome() {
  if (is_waiting_writable_) return false;
  const size_t before = output_.bytes();
  const OutputQueue::Outcome outcome = output_.WriteTo(socket_.native_handle());
  if (exchange_) exchange_->Taken(before - output_.bytes());
  if (outcome == OutputQueue::Outcome::kWouldBlock) WaitWritable();
  if (outcome == OutputQueue::Outcome::kBroken) Close();
  return outcome == OutputQueue::Outcome::kAllWritten;
}

void Connection::AnswerDone() {
  if (is_last_) return Close();
  const auto exchange = std::exchange(exchange_, nullptr);
  is_answer_complete_ = false;
  if (exchange) exchange->Close();
  if (is_closed_) return;  // by one of the callbacks
  if (!input_.empty()) ParseInput(std::exchange(input_, {}));
  ReadOn();
}

void Connection::Drain() {
  if (!is_answer_complete_) return Close();
  is_last_ = true;
}

void Connection::Close() {
  if (std::exchange(is_closed_, true)) return;
  const auto self = shared_from_this();
  AsioError ignored;
  socket_.close(ignored);
  request_timer_.reset();
  parser_.reset();
  output_.Clear();
  loop_.connections.erase(self);
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->Close();
  if (loop_.connections.empty() && loop_.on_last_gone) loop_.on_last_gone();
}

class Server final : public HttpServer {
 public:
  Server(std::string path, struct stat file, base::Fd listener, HttpHandler handler,
         HttpServerOptions options)
      : path_(std::move(path)),
        file_(file),
        loop_(std::make_shared<Loop>(std::move(handler), options)),
        work_(loop_->io.get_executor()),
        port_(LocalPort(listener.get())),
        listener_(loop_->io),
        timer_(loop_->io) {
    if (!listener) return;
    listener_.assign(listener.get());
    listener.Release();  // listener_ owns it
  }
  ~Server() override;

  void Run() override {
    WaitAccept();
    loop_->io.run();
  }
  void Stop() override {
    asio::post(loop_->io, [this] { StopHere(); });
  }
  uint16_t port() const override { return port_; }
  void Post(std::function<void()> task) override { asio::post(loop_->io, std::move(task)); }
  void Adopt(base::Fd socket, std::shared_ptr<const HttpHandler> handler) override {
    asio::post(loop_->io,
               [this, socket = std::move(socket), handler = std::move(handler)]() mutable {
                 if (!is_stopping_) Serve(std::move(socket), std::move(handler));
               });
  }

 private:
  void WaitAccept();
  void Accept();
  void Admit(base::Fd fd);
  void Serve(base::Fd fd, std::shared_ptr<const HttpHandler> handler);
  void StopHere();
  void ForEachConnection(void (Connection::*act)());

  const std::string path_;  // "" of a TCP socket, and of none
  const struct stat file_;
  // Exchanges that producers still hold know the loop weakly.
  const std::shared_ptr<Loop> loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  const uint16_t port_;
  Descriptor listener_;
  asio::steady_timer timer_;
  bool is_stopping_ = false;
  bool is_accept_failing_ = false;
};

Server::~Server() {
  // A producer's thread may be the last to let the loop go; the handler must not outlive us.
  loop_->handler = nullptr;
  if (path_.empty()) return;
  struct stat now{};
  if (::lstat(path_.c_str(), &now) != 0) return;
  // A successor's socket may have been given the same inode number.
  const bool is_ours = now.st_dev == file_.st_dev && now.st_ino == file_.st_ino &&
                       now.st_ctim.tv_sec == file_.st_ctim.tv_sec &&
                       now.st_ctim.tv_nsec == file_.st_ctim.tv_nsec;
  if (is_ours) ::unlink(path_.c_str());
}

void Server::WaitAccept() {
  if (is_stopping_ || !listener_.is_open()) return;
  listener_.async_wait(Descriptor::wait_read, [this](AsioError error) {
    if (!error && !is_stopping_) Accept();
  });
}

void Server::Accept() {
  for (int i = 0; i < kAcceptBurst; ++i) {
    base::Fd fd(
        ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) {
      is_accept_failing_ = false;
      Admit(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) break;
    if (!std::exchange(is_accept_failing_, true)) {
      base::LogWarn("{}", base::Errno(errno, "accept").message);
    }
    timer_.expires_after(kAcceptPause);
    timer_.async_wait([this](AsioError error) {
      if (!error) WaitAccept();
    });
    return;
  }
  WaitAccept();
}

void Server::Admit(base::Fd fd) {
  if (!path_.empty()) {
    const base::Result<uid_t> peer = PeerUid(fd.get());
    if (!peer || (*peer != ::geteuid() && *peer != 0)) return;
  }
  Serve(std::move(fd), nullptr);
}

void Server::Serve(base::Fd fd, std::shared_ptr<const HttpHandler> handler) {
  if (loop_->connections.size() >= loop_->options.max_connections) return;
  auto connection = std::make_shared<Connection>(loop_, std::move(handler));
  loop_->connections.insert(connection);
  connection->Begin(std::move(fd));
}

void Server::StopHere() {
  if (std::exchange(is_stopping_, true)) return;
  AsioError ignored;
  listener_.close(ignored);
  timer_.expires_after(loop_->options.drain_timeout);
  timer_.async_wait([this](AsioError error) {
    if (!error) ForEachConnection(&Connection::Close);
  });
  loop_->on_last_gone = [this] {
    timer_.cancel();
    work_.reset();
  };
  if (loop_->connections.empty()) return loop_->on_last_gone();
  ForEachConnection(&Connection::Drain);
}

void Server::ForEachConnection(void (Connection::*act)()) {
  const auto connections = loop_->connections;  // Close() takes out of it
  for (const auto& connection : connections) (connection.get()->*act)();
}

base::Result<std::unique_ptr<HttpServer>> MakeServer(const std::string& path,
                                                     const struct stat& file, base::Fd listener,
                                                     HttpHandler handler,
                                                     HttpServerOptions options) {
  try {
    return std::make_unique<Server>(path, file, std::move(listener), std::move(handler), options);
  } catch (const boost::system::system_error& error) {
    return base::Fail(base::Code::kExhausted, std::string("event loop: ") + error.what());
  }
}

}  // namespace

base::Result<std::unique_ptr<HttpServer>> HttpServer::ListenUnix(const std::string& path,
                                                                 HttpHandler handler,
                                                                 HttpServerOptions options) {
  TRY_ASSIGN(base::Fd listener, ListenOnUnixPath(path));
  struct stat file{};
  if (::lstat(path.c_str(), &file) != 0) {
    return base::Fail(base::Errno(errno, "socket \"" + path + "\""));
  }
  return MakeServer(path, file, std::move(listener), std::move(handler), options);
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::ListenTcp(const std::string& host,
                                                                uint16_t port, HttpHandler handler,
                                                                HttpServerOptions options) {
  TRY_ASSIGN(base::Fd listener, ListenOnTcp(host, port));
  return MakeServer("", {}, std::move(listener), std::move(handler), options);
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::OfAdopted(HttpHandler handler,
                                                                HttpServerOptions options) {
  return MakeServer("", {}, base::Fd(), std::move(handler), options);
}

}  // namespace net
