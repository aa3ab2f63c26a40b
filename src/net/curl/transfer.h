// One request under way through libcurl, and what has come back of its answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/curl/handle.h"
#include "net/http/file_uploader.h"
#include "net/http/types.h"

namespace net {

// The loop's thread puts in what libcurl gives (Take*, End); one consumer takes it out (Await*,
// Read). Destroyed after libcurl has let go of its handle.
class CurlTransfer {
 public:
  // A consumer that does not read is not sent more than this, and what libcurl holds itself.
  static constexpr size_t kMaxBuffered = 1 << 20;

  // `body_limit`: bytes of a whole answer; with none it is a stream.
  CurlTransfer(std::unique_ptr<CurlHandle> handle, HttpRequest request,
               std::optional<size_t> body_limit);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  CURL* handle() const { return handle_->get(); }
  CurlHandle& curl_handle() { return *handle_; }
  const HttpRequest& request() const { return request_; }
  bool is_stream() const { return !body_limit_; }
  // The handle goes there when the transfer has ended well.
  void ReturnHandleTo(std::shared_ptr<CurlHandlePool> pool) { pool_ = std::move(pool); }
  // To be told of the end; before the loop has the transfer.
  void CountEndIn(std::shared_ptr<std::latch> ends) { ends_ = std::move(ends); }

  // The request's body is this; before the loop has the transfer.
  void SendFrom(const FileRange& range) { file_ = range; }
  const std::optional<FileRange>& file() const { return file_; }

  // libcurl's callbacks: the next bytes of the file into `to`, at most `room`; from where on they
  // are to come.
  size_t GiveBody(char* to, size_t room);
  bool SeekBody(uint64_t position);
  // And: how many bytes were taken, another number ends the transfer.
  size_t TakeHeader(std::string_view line);
  size_t TakeBody(std::string_view bytes);
  // Of a stream: wakes its reader if something has come since the last call. The reader is not
  // woken for each of the pieces that come together.
  void TellOfNews();
  void End(base::Status status);

  using TimePoint = std::chrono::steady_clock::time_point;
  // Until the answer's head has come; an error where the request failed, or at `deadline`.
  base::Status AwaitHead(TimePoint deadline);
  // Until the answer is whole. Of an answer that is an error (4xx, 5xx) what came of it counts,
  // though the connection broke after its head: `is_cut` then. kCancelled says nothing of it.
  base::Result<HttpResponse> AwaitWhole(bool& is_cut);
  // A piece of the body; nothing at its end. `must_resume`: Read made room that libcurl waits for.
  base::Result<std::optional<std::string>> Read(bool& must_resume);
  void Cancel();

  // Valid once AwaitHead has succeeded.
  int status() const { return response_.status; }
  const Headers& headers() const { return response_.headers; }

 private:
  std::unique_ptr<CurlHandle> handle_;
  std::shared_ptr<CurlHandlePool> pool_;
  const HttpRequest request_;
  const std::optional<size_t> body_limit_;
  std::optional<FileRange> file_;
  uint64_t file_sent_ = 0;
  std::shared_ptr<std::latch> ends_;
  bool has_news_ = false;  // the loop's thread only

  std::mutex mutex_;
  std::condition_variable changed_;
  HttpResponse response_;
  size_t header_bytes_ = 0;
  bool has_head_ = false;
  bool is_paused_ = false;
  bool is_cancelled_ = false;
  std::optional<base::Error> refusal_;  // why a callback stopped the transfer
  std::optional<base::Status> end_;
};

}  // namespace net
