#include "net/curl/loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "base/block_signals.h"
#include "net/socket/tcp.h"

namespace net {
namespace {

// Streams on one connection: as many as a kube-apiserver permits. For more, libcurl opens another.
constexpr long kMaxStreams = 250;
// Each round of libcurl calls poll(2) once for every request under way, even if only one has bytes.
// From this many requests on, the loop waits for kMoment and reads all answers that came in one
// round. `muster operator` then needs a third less CPU for a thousand jobs, and the server does not
// wait, because it has the other requests to work on.
constexpr size_t kManyUnderWay = 12;
constexpr std::chrono::milliseconds kMoment{4};

}  // namespace

base::Result<std::unique_ptr<CurlLoop>> CurlLoop::Start(const CurlLibrary& curl,
                                                        ExplainFailure explain,
                                                        bool batches_streams) {
  CURLM* const multi = curl.multi_init();
  if (multi == nullptr) return base::Fail(base::Code::kExhausted, "libcurl could not be started");
  curl.multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl.multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, kMaxStreams);
  return std::unique_ptr<CurlLoop>(new CurlLoop(curl, multi, std::move(explain), batches_streams));
}

CurlLoop::CurlLoop(const CurlLibrary& curl, CURLM* multi, ExplainFailure explain,
                   bool batches_streams)
    : curl_(curl), multi_(multi), explain_(std::move(explain)), batches_streams_(batches_streams) {
  // Blocks SIGPIPE too: a connection that breaks is an error.
  const base::BlockSignals in_the_thread;
  thread_ = std::thread([this] { Run(); });
}

CurlLoop::~CurlLoop() {
  {
    const std::lock_guard lock(stop_mutex_);
    is_stopped_ = true;
  }
  stopped_.notify_one();
  curl_.multi_wakeup(multi_);
  thread_.join();
  CarryOut(std::move(mail_.Lock()->orders));
  const base::Status cancelled = base::Fail(base::Code::kCancelled, "cancelled");
  while (!running_.empty()) Drop(running_.begin()->first, cancelled);
  curl_.multi_cleanup(multi_);
}

void CurlLoop::SetConnection(CURL* handle) {
  curl_.easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, &OnOpen);
  curl_.easy_setopt(handle, CURLOPT_SOCKOPTDATA, this);
  curl_.easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, &OnClose);
  curl_.easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, this);
}

int CurlLoop::OnOpen(void* self, curl_socket_t fd, curlsocktype) {
  SetKeepAlive(fd);
  static_cast<CurlLoop*>(self)->sockets_.push_back(fd);
  return CURL_SOCKOPT_OK;
}

int CurlLoop::OnClose(void* self, curl_socket_t fd) {
  std::erase(static_cast<CurlLoop*>(self)->sockets_, fd);
  return ::close(fd);
}

void CurlLoop::Post(Order order, std::shared_ptr<CurlTransfer> transfer) {
  auto mail = mail_.Lock();
  mail->orders.emplace_back(order, std::move(transfer));
  Wake(std::move(mail));
}

void CurlLoop::AddAll(std::span<const std::shared_ptr<CurlTransfer>> transfers) {
  if (transfers.empty()) return;
  auto mail = mail_.Lock();
  for (const auto& transfer : transfers) mail->orders.emplace_back(Order::kAdd, transfer);
  Wake(std::move(mail));
}

void CurlLoop::Wake(base::Guarded<Mail>::Access mail) {
  if (std::exchange(mail->is_awaited, false)) curl_.multi_wakeup(multi_);
}

void CurlLoop::Drop(CURL* handle, base::Status status) {
  const auto found = running_.find(handle);
  if (found == running_.end()) return;
  const std::shared_ptr<CurlTransfer> transfer = std::move(found->second);
  running_.erase(found);
  curl_.multi_remove_handle(multi_, handle);
  transfer->End(std::move(status));
}

void CurlLoop::CarryOut(Orders orders) {
  for (auto& [order, transfer] : orders) {
    CURL* const handle = transfer->handle();
    switch (order) {
      case Order::kAdd:
        running_.emplace(handle, transfer);
        if (curl_.multi_add_handle(multi_, handle) != CURLM_OK) {
          Drop(handle, base::Fail(base::Code::kInternal, "libcurl did not take the request"));
        }
        break;
      case Order::kResume:
        if (running_.contains(handle)) curl_.easy_pause(handle, CURLPAUSE_CONT);
        break;
      case Order::kRemove:
        Drop(handle, base::Fail(base::Code::kCancelled, "cancelled"));
        break;
    }
  }
}

void CurlLoop::EndFinished() {
  int left = 0;
  while (const CURLMsg* const message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const auto found = running_.find(message->easy_handle);
    if (found == running_.end()) continue;
    const CURLcode code = message->data.result;
    // `message` is gone with the handle.
    base::Status status;
    if (code != CURLE_OK)
      status = base::Fail(explain_(found->second->curl_handle().FailureOf(code)));
    Drop(found->first, std::move(status));
  }
}

void CurlLoop::WakeReaders() {
  for (const auto& [handle, transfer] : running_) {
    if (transfer->is_stream()) transfer->WakeReader();
  }
}

// Woken by bytes, by libcurl's own timers and by Wake.
void CurlLoop::Await() {
  {
    auto mail = mail_.Lock();
    if (!mail->orders.empty()) return;
    mail->is_awaited = true;
  }
  curl_.multi_poll(multi_, nullptr, 0, INT_MAX, nullptr);
  mail_.Lock()->is_awaited = false;
}

// libcurl sends each HTTP/2 frame by itself. Corking sends the frames of several requests together,
// which saves a sixth of the CPU time of a small write.
void CurlLoop::Perform(bool is_corked) {
  const auto cork = [&](int is_on) {
    for (const int fd : sockets_) ::setsockopt(fd, IPPROTO_TCP, TCP_CORK, &is_on, sizeof is_on);
  };
  if (is_corked) cork(1);
  int running = 0;
  curl_.multi_perform(multi_, &running);
  if (is_corked) cork(0);
}

bool CurlLoop::IsBusy() const {
  if (running_.size() >= kManyUnderWay) return true;
  return batches_streams_ && !running_.empty() &&
         std::chrono::steady_clock::now() - last_round_ < kMoment &&
         std::all_of(
             running_.begin(), running_.end(),
             [](const auto& one) { return one.second->is_stream(); });
}

void CurlLoop::Gather() {
  if (IsBusy()) {
    std::unique_lock lock(stop_mutex_);
    stopped_.wait_for(lock, kMoment, [this] { return is_stopped_.load(); });
  }
  last_round_ = std::chrono::steady_clock::now();
}

void CurlLoop::Run() {
  ::pthread_setname_np(::pthread_self(), "kubernetes");
  while (!is_stopped_) {
    Orders orders;
    orders.swap(mail_.Lock()->orders);
    const bool is_corked = orders.size() > 1;
    CarryOut(std::move(orders));
    Perform(is_corked);
    EndFinished();
    WakeReaders();
    Await();
    Gather();
  }
}

}  // namespace net
