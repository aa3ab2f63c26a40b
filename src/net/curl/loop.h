// The thread that moves the bytes of all requests (libcurl's multi interface).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "net/curl/transfer.h"

namespace net {

// Thread safe. One connection carries all requests to a server that speaks HTTP/2.
class CurlLoop {
 public:
  // `batches_streams`: reads together what streams receive within a few milliseconds, and wakes
  // their readers once.
  static base::Result<std::unique_ptr<CurlLoop>> Start(const CurlLibrary& curl,
                                                       ExplainFailure explain,
                                                       bool batches_streams = false);
  ~CurlLoop();  // transfers under way end as kCancelled

  // Makes the handle use the loop's connections. Call it before a transfer is added.
  void SetConnection(CURL* handle);
  void Add(std::shared_ptr<CurlTransfer> transfer) { Post(Order::kAdd, std::move(transfer)); }
  // Adds all of them, and wakes the thread once.
  void AddAll(std::span<const std::shared_ptr<CurlTransfer>> transfers);
  // Goes on with a transfer that was paused because its consumer had no room.
  void Resume(std::shared_ptr<CurlTransfer> transfer) { Post(Order::kResume, std::move(transfer)); }
  // Ends the transfer unless it has ended.
  void Remove(std::shared_ptr<CurlTransfer> transfer) { Post(Order::kRemove, std::move(transfer)); }

 private:
  enum class Order { kAdd, kResume, kRemove };
  using Orders = std::vector<std::pair<Order, std::shared_ptr<CurlTransfer>>>;
  struct Mail {
    Orders orders;
    bool is_awaited = false;  // the thread sleeps until it is woken
  };

  CurlLoop(const CurlLibrary& curl, CURLM* multi, ExplainFailure explain, bool batches_streams);
  void Post(Order order, std::shared_ptr<CurlTransfer> transfer);
  void Wake(base::Guarded<Mail>::Access mail);
  void Run();
  void Await();
  // Whether enough requests are under way to wait and read their answers together.
  bool IsBusy() const;
  void Gather();
  void CarryOut(Orders orders);
  void Perform(bool is_corked);
  // libcurl's callbacks.
  static int OnOpen(void* self, curl_socket_t fd, curlsocktype);
  static int OnClose(void* self, curl_socket_t fd);
  void Drop(CURL* handle, base::Status status);
  void EndFinished();
  void WakeReaders();

  const CurlLibrary& curl_;
  CURLM* const multi_;
  const ExplainFailure explain_;
  const bool batches_streams_;
  base::Guarded<Mail> mail_;
  std::atomic<bool> is_stopped_{false};
  std::mutex stop_mutex_;
  std::condition_variable stopped_;
  // For the loop's thread only.
  std::map<CURL*, std::shared_ptr<CurlTransfer>> running_;
  std::vector<int> sockets_;
  std::chrono::steady_clock::time_point last_round_{};
  std::thread thread_;
};

}  // namespace net
