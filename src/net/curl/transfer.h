// One request that libcurl carries out, and the part of its answer that has come.
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

// The loop's thread fills it from libcurl (Take*, End); one consumer empties it (Await*, Read).
// Destroyed after libcurl has released its handle.
class CurlTransfer {
 public:
  // How much is kept for a consumer that does not read, besides what libcurl holds itself.
  static constexpr size_t kMaxBuffered = 1 << 20;

  // `body_limit`: the most bytes of a whole answer; nullopt for a stream.
  CurlTransfer(std::unique_ptr<CurlHandle> handle, HttpRequest request,
               std::optional<size_t> body_limit);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  CURL* handle() const { return handle_->get(); }
  CurlHandle& curl_handle() { return *handle_; }
  const HttpRequest& request() const { return request_; }
  bool is_stream() const { return !body_limit_; }
  // Where the handle goes after a successful transfer.
  void ReturnHandleTo(std::shared_ptr<CurlHandlePool> pool) { pool_ = std::move(pool); }
  // Called at the end. Set it before the transfer is added to the loop.
  void CountEndIn(std::shared_ptr<std::latch> ends) { ends_ = std::move(ends); }

  // The request's body. Set it before the transfer is added to the loop.
  void SendFrom(const FileRange& range) { file_ = range; }
  const std::optional<FileRange>& file() const { return file_; }

  // libcurl's callbacks: reads the next bytes of the file into `to`, at most `room`; seeks.
  size_t GiveBody(char* to, size_t room);
  bool SeekBody(uint64_t position);
  // libcurl's callbacks: return how many bytes were taken; another number ends the transfer.
  size_t TakeHeader(std::string_view line);
  size_t TakeBody(std::string_view bytes);
  // Wakes a stream's reader if something has come since the last call, so that pieces that come
  // together wake it once.
  void WakeReader();
  void End(base::Status status);

  using TimePoint = std::chrono::steady_clock::time_point;
  // Waits for the answer's head. An error if the request failed, or at `deadline`.
  base::Status AwaitHead(TimePoint deadline);
  // Waits for the whole answer. If the connection broke after the head of an error (4xx, 5xx), the
  // part that came is returned, with `is_cut`. kCancelled does not say whether it was carried out.
  base::Result<HttpResponse> AwaitWhole(bool& is_cut);
  // A piece of the body; empty at its end. `must_resume`: libcurl waits for the room that this
  // made.
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
