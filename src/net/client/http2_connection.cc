#include "net/client/http2_connection.h"

#include <curl/curl.h>
#include <poll.h>

#include <array>
#include <string_view>

namespace net {
namespace {

// What is put together for one write, and read by one call: TLS's largest record.
constexpr size_t kGathered = 64 << 10;
constexpr size_t kReadSize = 16 << 10;

}  // namespace

void Http2Connection::Write() {
  while (!failure_) {
    if (written_ == output_.size()) {
      sent_ += output_.size();
      written_ = 0;
      output_.clear();
      if (const auto taken = session_->TakeOutput(output_, kGathered); !taken) {
        return Break(explain_({CURLE_HTTP2, 0, 0, true, taken.error().message}));
      }
      write_events_ = 0;
      if (output_.empty()) break;
    }
    const auto step = socket_->Send(std::string_view(output_).substr(written_), {});
    if (!step) return Break(step.error());
    write_events_ = step->wait_for;
    written_ += step->bytes;
    if (step->wait_for != 0) return;
    if (step->bytes == 0) return Break(explain_({CURLE_SEND_ERROR, 0, 0, true, "it was closed"}));
  }
  // nghttp2 has told a server that broke the protocol, and waits for nothing more.
  if (!failure_ && session_->IsOver() && session_->under_way() > 0) {
    Break(explain_({CURLE_HTTP2, 0, 0, true, "the server's answer is not HTTP/2"}));
  }
}

void Http2Connection::Read(Time now) {
  std::array<char, kReadSize> buffer;
  while (!failure_) {
    const auto step = socket_->Receive(buffer.data(), buffer.size());
    if (!step) return Break(step.error());
    if (step->wait_for != 0) return;
    if (step->bytes == 0) {
      return Break(explain_({CURLE_RECV_ERROR, 0, 0, true, "the server closed it"}));
    }
    heard_ = now;
    const auto taken = session_->Receive({buffer.data(), step->bytes}, now);
    if (!taken) return Break(explain_({CURLE_HTTP2, 0, 0, true, taken.error().message}));
  }
}

void Http2Connection::Break(base::Error error) {
  if (error.os_errno != 0) {
    error = explain_({CURLE_RECV_ERROR, error.os_errno, 0, true, error.message});
  }
  failure_ = std::move(error);
  session_->Break(sent_ + written_);
}

}  // namespace net
