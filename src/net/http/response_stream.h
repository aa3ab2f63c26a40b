// Exchange: the answer to one request on its way from a producer (any thread, through a Responder)
// to a consumer (a connection's loop, or a caller in this process).
//
//   producer:  Send | Start Write* (Finish | CutShort)   consumer:  woken -> Take -> Taken* ->
//   Close
//              Upgrade (Write, Used)* Finish                  Receive* as bytes come
//
// The producer's pieces gather here until the consumer takes them, so many small writes cost one
// wake-up and become one chunk.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/types.h"

namespace net {

class Exchange {
 public:
  // `wake` is called on the producer's thread, without a lock held, when there is something new to
  // take and no wake-up is outstanding.
  explicit Exchange(std::function<void()> wake) : wake_(std::move(wake)) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  struct Head {
    int status = 200;
    Headers headers;
    bool is_upgrade = false;
  };
  struct Output {
    std::optional<Head> head;         // once
    std::vector<std::string> pieces;  // of the body, in order, none empty
    bool is_finished = false;         // no more will come
    bool is_broken = false;           // the producer went away in the middle
    bool is_cut_short = false;        // finished, for the peer is too slow
  };

  // Of the consumer. Pieces until there are `room` bytes; the rest stays where the producer may
  // still drop it, and is there for the next call.
  Output Take(size_t room = std::string::npos);
  // The consumer puts `bytes` of framing around what it took.
  void Framed(size_t bytes) { pending_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // `bytes` of what was written or framed have reached the peer.
  void Taken(size_t bytes);
  // After an upgrade: bytes of the peer.
  void Receive(std::string_view bytes);
  // Received so much that no more should be read until the next wake-up.
  bool IsFarAhead() const {
    return unused_bytes_.load(std::memory_order_acquire) >= kMaxUnusedBytes;
  }
  // The peer is gone or has it all: everything later is dropped, and OnClose's callbacks run.
  void Close();

  // Of the producer, as Responder has them.
  void Send(HttpResponse response);
  void Start(int status, Headers headers);
  void Write(std::string chunk);
  void Finish();
  void CutShort(std::string last);
  void Upgrade(Headers headers, std::function<void(std::string_view)> receive);
  void Used(size_t bytes);
  void WhenTaken(size_t limit, std::function<void()> callback);
  // The producer is gone: a 500 when it has said nothing, a broken answer when it had begun.
  void Abandon();
  size_t pending_bytes() const {
    return is_closed() ? 0 : pending_bytes_.load(std::memory_order_relaxed);
  }
  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }
  void OnClose(std::function<void()> callback);

 private:
  enum class Phase { kSilent, kStarted, kFinished, kBroken };

  // With mutex_ held; whether the caller must call wake_ after letting it go.
  bool Push();
  void CallWhenTaken();

  const std::function<void()> wake_;
  std::atomic<size_t> pending_bytes_{0};
  std::atomic<size_t> unused_bytes_{0};
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> has_when_taken_{false};

  std::mutex mutex_;  // guards what follows
  Phase phase_ = Phase::kSilent;
  bool is_wake_outstanding_ = false;
  bool is_cut_short_ = false;
  std::optional<Head> head_;
  std::vector<std::string> pieces_;
  std::vector<std::function<void()>> on_close_;
  size_t taken_limit_ = 0;
  std::function<void()> when_taken_;
  std::shared_ptr<std::function<void(std::string_view)>> receive_;
};

// The producer's end; the last reference that goes away abandons the exchange.
std::shared_ptr<Responder> MakeResponder(std::shared_ptr<Exchange> exchange);

}  // namespace net
