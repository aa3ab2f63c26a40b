// ResponseStream: carries the answer to one request from a producer (any thread, through a
// Responder) to a consumer (a connection's loop, or a caller in this process).
//
//   producer:  Send | Start Write* (Finish | CutShort)
//              Upgrade (Write, Used)* Finish
//   consumer:  woken -> Take -> Taken* -> Close;  Receive* as bytes come
//
// It collects the producer's pieces until the consumer takes them, so that many small writes cost
// one wake-up and become one chunk.
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

class ResponseStream {
 public:
  // `wake` is called on the producer's thread, without a lock held, when there is something new to
  // take and no wake-up is outstanding.
  // `wants_parsed`: the consumer is in this process, and takes values instead of parsing.
  explicit ResponseStream(std::function<void()> wake, bool wants_parsed = false)
      : wake_(std::move(wake)), wants_parsed_(wants_parsed) {}
  ResponseStream(const ResponseStream&) = delete;
  ResponseStream& operator=(const ResponseStream&) = delete;

  struct Head {
    int status = 200;
    Headers headers;
    bool is_upgrade = false;
    Parsed parsed = {};  // what the whole body says, if wanted
  };
  struct Output {
    std::optional<Head> head;         // once
    std::vector<std::string> pieces;  // of the body, in order, none empty
    std::vector<ParsedLine> parsed;   // what lines of it say, if wanted
    bool is_finished = false;         // no more will come
    bool is_broken = false;           // the producer went away before the end
    bool is_cut_short = false;        // finished early, because the peer is too slow
  };

  // For the consumer: pieces of at least `room` bytes together, or all there are. The rest stays
  // for the next call; until then the producer may still drop it.
  Output Take(size_t room = std::string::npos);
  // The consumer added `bytes` of framing to what it took.
  void Framed(size_t bytes) { pending_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // `bytes` of what was written or framed have reached the peer; values count as their text.
  void Taken(size_t bytes);
  // After an upgrade: the peer sent these bytes.
  void Receive(std::string_view bytes);
  // Whether so much is unused that the peer should not be read from until the next wake-up.
  bool IsFarAhead() const {
    return unused_bytes_.load(std::memory_order_acquire) >= kMaxUnusedBytes;
  }
  // The peer is gone or has everything: drops what comes later, and runs OnClose's callbacks.
  void Close();

  // For the producer: see Responder.
  void Send(HttpResponse response);
  void Start(int status, Headers headers);
  void Write(std::string chunk) { WriteLines(std::move(chunk), {}); }
  void WriteLines(std::string chunk, std::vector<ParsedLine> parsed);
  void Finish();
  void CutShort(std::string last);
  void Upgrade(Headers headers, std::function<void(std::string_view)> receive);
  void Used(size_t bytes);
  void WhenTaken(size_t limit, std::function<void()> callback);
  // The producer is gone: answers 500 if it has not begun, otherwise breaks the answer off.
  void Abandon();
  size_t pending_bytes() const {
    return is_closed() ? 0 : pending_bytes_.load(std::memory_order_relaxed);
  }
  bool is_closed() const { return is_closed_.load(std::memory_order_acquire); }
  bool wants_parsed() const { return wants_parsed_; }
  void OnClose(std::function<void()> callback);

 private:
  enum class Phase { kSilent, kStarted, kFinished, kBroken };

  // With mutex_ held. Returns whether the caller must call wake_ once it has released it.
  bool Push();
  void CallWhenTaken();

  const std::function<void()> wake_;
  const bool wants_parsed_;
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
  std::vector<ParsedLine> parsed_;
  uint64_t written_ = 0;  // bytes of the body
  std::vector<std::function<void()>> on_close_;
  size_t taken_limit_ = 0;
  std::function<void()> when_taken_;
  std::shared_ptr<std::function<void(std::string_view)>> receive_;
};

// The producer's end. When the last reference to it goes, the stream is abandoned.
std::shared_ptr<Responder> MakeResponder(std::shared_ptr<ResponseStream> stream);

}  // namespace net
