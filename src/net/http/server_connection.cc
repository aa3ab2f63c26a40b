#include "net/http/server_connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>

namespace net {
namespace {

using AsioError = boost::system::error_code;
using Descriptor = boost::asio::posix::stream_descriptor;

// How much is read ahead while a request is being answered.
constexpr size_t kMaxPipelinedBytes = 64 << 10;
// How much is taken from a producer before the peer has taken it.
constexpr size_t kMaxOutputBytes = 256 << 10;
// The time for a peer that was refused, or whose answer was cut short, to take the rest.
constexpr std::chrono::seconds kCutShortTimeout{10};
// How much capacity an empty input buffer may keep.
constexpr size_t kIdleInputBytes = 1 << 10;

}  // namespace

bool ServerConnection::IsReadFarAhead() const {
  return stream_ && (input_.size() >= kMaxPipelinedBytes || stream_->IsFarAhead());
}

void ServerConnection::Begin(base::Fd fd) {
  AsioError error;
  socket_.assign(fd.get(), error);
  if (error) return Close();
  fd.Release();
  AwaitRequest(loop_.options.first_byte_timeout);
  WaitReadable();
}

void ServerConnection::WaitReadable() {
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

// Enough has been read ahead. Until it is used, waits only for the peer to hang up.
void ServerConnection::WaitHangUp() {
  is_waiting_hang_up_ = true;
  socket_.async_wait(Descriptor::wait_error, [self = shared_from_this()](AsioError error) {
    self->is_waiting_hang_up_ = false;
    if (self->is_closed_) return;
    if (error == boost::asio::error::operation_aborted) return self->WaitReadable();
    self->Close();
  });
}

void ServerConnection::ReadOn() {
  if (is_closed_ || IsReadFarAhead()) return;
  if (!is_waiting_hang_up_) return WaitReadable();
  AsioError ignored;
  socket_.cancel(ignored);  // comes back through WaitHangUp's handler
}

void ServerConnection::WaitWritable() {
  if (is_closed_ || is_waiting_writable_) return;
  is_waiting_writable_ = true;
  socket_.async_wait(Descriptor::wait_write, [self = shared_from_this()](AsioError error) {
    self->is_waiting_writable_ = false;
    if (self->is_closed_) return;
    if (error == boost::asio::error::operation_aborted) return self->WaitWritable();  // by ReadOn
    if (error) return self->Close();
    if (self->WriteSome()) self->Flush();
  });
}

void ServerConnection::OnReadable() {
  const ssize_t count =
      ::recv(socket_.native_handle(), loop_.scratch.data(), loop_.scratch.size(), MSG_DONTWAIT);
  if (count > 0) {
    Input({loop_.scratch.data(), static_cast<size_t>(count)});
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    return Close();
  }
  WaitReadable();
}

void ServerConnection::Input(std::string_view bytes) {
  if (is_answer_complete_ && is_last_) return;  // refused or closing: reads nothing more
  if (framing_ == Framing::kUpgrade) return stream_->Receive(bytes);
  if (stream_) {
    input_.append(bytes);
  } else if (input_.empty()) {
    ParseInput(bytes);
  } else {
    input_.append(bytes);
    ParseInput(std::exchange(input_, {}));
  }
}

// Leaves in input_ what no request has used. `input` must not point into input_.
void ServerConnection::ParseInput(std::string_view input) {
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
  if (!is_request_timed_) {
    is_request_timed_ = true;
    SetDeadline(loop_.options.request_timeout, &ServerConnection::RequestIsLate);
  }
  if (!had_header && parser_->has_header() &&
      FindHeader(parser_->message().headers, "Expect") == "100-continue") {
    output_.Push("HTTP/1.1 100 Continue\r\n\r\n");
    WriteSome();
  }
}

void ServerConnection::SetDeadline(std::chrono::milliseconds wait,
                                   void (ServerConnection::*act)()) {
  deadline_.emplace(loop_.io, wait);
  deadline_->async_wait([weak = weak_from_this(), act, n = ++deadline_number_](AsioError error) {
    const auto self = weak.lock();
    const bool is_current = !error && self && self->deadline_ && self->deadline_number_ == n;
    if (is_current && !self->is_closed_) ((*self).*act)();
  });
}

void ServerConnection::AwaitRequest(std::chrono::milliseconds wait) {
  if (is_guest_ && !is_closed_ && !parser_ && !stream_) {
    SetDeadline(wait, &ServerConnection::Close);
  }
}

void ServerConnection::RequestIsLate() { Refuse(408); }

void ServerConnection::Dispatch() {
  deadline_.reset();
  is_request_timed_ = false;
  MessageParser::Message& message = parser_->message();
  HttpRequest request{std::move(message.method), std::move(message.target),
                      std::move(message.headers), std::move(message.body)};
  is_head_request_ = request.method == "HEAD";
  is_http_1_0_ = message.is_http_1_0;
  is_last_ = !parser_->keeps_alive();
  is_answer_complete_ = false;
  parser_.reset();
  // The stream does not keep the connection alive, because a producer may hold it for long.
  stream_ = std::make_shared<ResponseStream>([weak_loop = weak_loop_, weak = weak_from_this()] {
    const auto loop = weak_loop.lock();
    if (!loop) return;
    boost::asio::post(loop->io, [weak] {
      if (const auto self = weak.lock()) self->Flush();
    });
  });
  stream_->Framed(output_.bytes());
  const HttpHandler& handler = handler_ ? *handler_ : loop_.handler;
  handler(std::move(request), MakeResponder(stream_));
}

// Answers what is not a request.
void ServerConnection::Refuse(int status) {
  SetDeadline(kCutShortTimeout, &ServerConnection::Close);
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

void ServerConnection::Flush() {
  while (!is_closed_ && stream_ && !is_answer_complete_) {
    if (!PassOn() || !WriteSome()) return;
  }
  if (!is_closed_ && is_answer_complete_ && output_.is_empty()) AnswerDone();
}

// Moves what there is room for from the stream to the output. Returns whether there was anything.
bool ServerConnection::PassOn() {
  const size_t room = framing_ == Framing::kUpgrade || is_draining_
                          ? std::string::npos
                          : kMaxOutputBytes - std::min(kMaxOutputBytes, output_.bytes());
  ResponseStream::Output output = stream_->Take(room);
  if (output.is_broken) {
    Close();
    return false;
  }
  if (output.is_cut_short) SetDeadline(kCutShortTimeout, &ServerConnection::Close);
  size_t body_bytes = 0;
  for (const std::string& piece : output.pieces) body_bytes += piece.size();
  const bool has_head = output.head.has_value();
  if (has_head) PutHead(std::move(*output.head), output, body_bytes);
  if (is_head_request_ || framing_ == Framing::kNone) {
    stream_->Taken(body_bytes);
  } else if (body_bytes > 0) {
    PutBody(std::move(output.pieces), body_bytes);
  }
  if (output.is_finished) {
    is_answer_complete_ = true;
    if (framing_ == Framing::kChunked && !is_head_request_) PutFrame(std::string(kLastChunk));
  }
  if (framing_ == Framing::kUpgrade) ReadOn();
  return output.is_finished || has_head || body_bytes > 0;
}

void ServerConnection::PutHead(ResponseStream::Head head, const ResponseStream::Output& output,
                               size_t body_bytes) {
  if (head.is_upgrade) {
    framing_ = Framing::kUpgrade;
    is_last_ = true;
    PutFrame(FormatResponseHead(head.status, head.headers, framing_, 0, false));
    if (!input_.empty()) stream_->Receive(std::exchange(input_, {}));
    return;
  }
  if (FindHeader(head.headers, "Connection") == "close") is_last_ = true;
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

void ServerConnection::PutFrame(std::string bytes) {
  stream_->Framed(bytes.size());
  output_.Push(std::move(bytes));
}

// A chunk holds everything since the last one.
void ServerConnection::PutBody(std::vector<std::string> pieces, size_t body_bytes) {
  const bool is_chunk = framing_ == Framing::kChunked;
  if (is_chunk) PutFrame(FormatChunkHead(body_bytes));
  for (std::string& piece : pieces) output_.Push(std::move(piece));
  if (is_chunk) PutFrame(std::string(kChunkEnd));
}

// Returns whether everything is written. If not, the connection may be closed.
bool ServerConnection::WriteSome() {
  if (is_waiting_writable_) return false;
  const size_t before = output_.bytes();
  const OutputQueue::Outcome outcome = output_.WriteTo(socket_.native_handle());
  if (stream_) stream_->Taken(before - output_.bytes());
  if (outcome == OutputQueue::Outcome::kWouldBlock) WaitWritable();
  if (outcome == OutputQueue::Outcome::kBroken) Close();
  return outcome == OutputQueue::Outcome::kAllWritten;
}

void ServerConnection::AnswerDone() {
  if (is_last_) return Close();
  deadline_.reset();
  const auto stream = std::exchange(stream_, nullptr);
  is_answer_complete_ = false;
  if (stream) stream->Close();
  if (is_closed_) return;  // by one of the callbacks
  if (!input_.empty()) ParseInput(std::exchange(input_, {}));
  AwaitRequest(loop_.options.idle_timeout);
  ReadOn();
}

void ServerConnection::Drain() {
  is_draining_ = true;  // writes everything that its producer has sent
  Flush();
  if (is_closed_) return;
  if (!is_answer_complete_) return Close();
  is_last_ = true;
}

void ServerConnection::Close() {
  if (std::exchange(is_closed_, true)) return;
  const auto self = shared_from_this();
  AsioError ignored;
  socket_.close(ignored);
  deadline_.reset();
  parser_.reset();
  output_.Clear();
  loop_.connections.erase(self);
  if (is_guest_) --loop_.guests;
  if (const auto stream = std::exchange(stream_, nullptr)) stream->Close();
  if (loop_.connections.empty() && loop_.on_last_gone) loop_.on_last_gone();
}

}  // namespace net
