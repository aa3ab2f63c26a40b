#include "net/curl/transfer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "net/client/client.h"
#include "net/socket/url.h"

namespace net {
namespace {

using base::Code;
using base::Fail;

// The status of "HTTP/2 200" or "HTTP/1.1 404 Not Found"; 0 for other lines.
int StatusOf(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  return static_cast<int>(base::ParseInt(line.substr(blank + 1, 3)).value_or(0));
}

}  // namespace

CurlTransfer::CurlTransfer(std::unique_ptr<CurlHandle> handle, HttpRequest request,
                           std::optional<size_t> body_limit)
    : handle_(std::move(handle)), request_(std::move(request)), body_limit_(body_limit) {}

CurlTransfer::~CurlTransfer() {
  if (pool_ != nullptr && end_ && *end_) pool_->Give(std::move(handle_));
}

size_t CurlTransfer::TakeHeader(std::string_view line) {
  const std::lock_guard lock(mutex_);
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) {
    refusal_ = base::Error{Code::kExhausted, "the answer's headers are too large", 0};
    return 0;
  }
  const std::string_view text = base::Trim(line);
  if (text.starts_with("HTTP/")) {
    // A final answer may follow an interim one (100 Continue).
    response_.status = StatusOf(text);
    response_.headers.clear();
  } else if (text.empty()) {
    has_head_ = has_head_ || response_.status >= 200;
    has_news_ = true;
  } else if (const size_t colon = text.find(':'); colon != std::string_view::npos && !has_head_) {
    response_.headers.emplace_back(text.substr(0, colon), base::Trim(text.substr(colon + 1)));
  }
  return line.size();
}

size_t CurlTransfer::TakeBody(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  std::string& body = response_.body;
  if (!body_limit_ && body.size() >= kMaxBuffered) {
    is_paused_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  if (body_limit_ && body.size() + bytes.size() > *body_limit_) {
    refusal_ = base::Error{Code::kExhausted,
                           fmt::format("the answer to {} {} is larger than {} MiB", request_.method,
                                       ShownTarget(request_.target), *body_limit_ >> 20),
                           0};
    return 0;
  }
  body.append(bytes);
  has_news_ = true;
  return bytes.size();
}

size_t CurlTransfer::GiveBody(char* to, size_t room) {
  const uint64_t left = file_->size - file_sent_;
  ssize_t count = 0;
  do {
    count = ::pread(file_->fd, to, std::min<uint64_t>(left, room),
                    static_cast<off_t>(file_->offset + file_sent_));
  } while (count < 0 && errno == EINTR);
  if (count > 0 || left == 0) {
    file_sent_ += static_cast<uint64_t>(count);
    return static_cast<size_t>(count);
  }
  const base::Error failure = base::Errno(errno, "read the file that is sent");
  const std::lock_guard lock(mutex_);
  refusal_ = count < 0
                 ? failure
                 : base::Error{Code::kConflict, "the file became shorter while it was sent", 0};
  return CURL_READFUNC_ABORT;
}

bool CurlTransfer::SeekBody(uint64_t position) {
  if (position > file_->size) return false;
  file_sent_ = position;
  return true;
}

void CurlTransfer::WakeReader() {
  if (!std::exchange(has_news_, false)) return;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void CurlTransfer::End(base::Status status) {
  {
    const std::lock_guard lock(mutex_);
    if (refusal_) status = Fail(*refusal_);
    end_ = std::move(status);
    changed_.notify_all();
  }
  if (ends_) ends_->count_down();
}

base::Status CurlTransfer::AwaitHead(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  const bool has_come =
      changed_.wait_until(lock, deadline, [this] { return has_head_ || end_.has_value(); });
  if (!has_come) {
    return Fail(Code::kTimeout, fmt::format("the server did not begin to answer {} {} in time",
                                            request_.method, ShownTarget(request_.target)));
  }
  if (has_head_) return {};
  if (*end_) return Fail(Code::kUnavailable, "the connection ended before an answer began");
  return *end_;
}

base::Result<HttpResponse> CurlTransfer::AwaitWhole(bool& is_cut) {
  std::unique_lock lock(mutex_);
  // libcurl's own timeouts end it.
  changed_.wait(lock, [this] { return end_.has_value(); });
  is_cut = !*end_ && end_->error().code != Code::kCancelled && !refusal_ && has_head_ &&
           response_.status >= 400;
  if (!*end_ && !is_cut) return Fail(end_->error());
  return std::move(response_);
}

base::Result<std::optional<std::string>> CurlTransfer::Read(bool& must_resume) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock,
                [this] { return is_cancelled_ || !response_.body.empty() || end_.has_value(); });
  if (is_cancelled_) return Fail(Code::kCancelled, "cancelled");
  if (!response_.body.empty()) {
    must_resume = std::exchange(is_paused_, false);
    return std::optional(std::exchange(response_.body, {}));
  }
  if (!*end_) return Fail(end_->error());
  return std::optional<std::string>();
}

void CurlTransfer::Cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  changed_.notify_all();
}

}  // namespace net
