#include "local/server/reads/list_stream.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "base/log.h"
#include "local/server/request/api_error.h"

namespace local::server {
namespace {

// How much is read from the store at once, and the most that is sent as one piece.
constexpr size_t kPieceBytes = 512 << 10;
// The next piece is read when the peer has all but this many bytes.
constexpr size_t kLowBytes = 256 << 10;
// kube-apiserver's limit for a request that is not a watch. A snapshot that lives for ever would
// make the store's file grow for ever.
constexpr std::chrono::seconds kStreamTime{60};
// Lists in progress at a time; further ones are read into memory as a whole.
constexpr int kMaxStreams = 16;

const net::Headers& JsonHeaders() {
  static const net::Headers headers = {{"Content-Type", "application/json"}};
  return headers;
}

// Driven by the thread that sends the answer; the timers' thread may end it.
class ListStream : public std::enable_shared_from_this<ListStream> {
 public:
  ListStream(Backend& backend, std::unique_ptr<store::ListCursor> cursor, PutItem put,
             std::string tail, std::shared_ptr<net::Responder> responder)
      : streams_(backend.list_streams),
        timers_(backend.timers),
        cursor_(std::move(cursor)),
        put_(std::move(put)),
        tail_(std::move(tail)),
        responder_(std::move(responder)) {}
  ~ListStream() {
    if (timer_) timers_->Cancel(*timer_);
    if (is_counted_) streams_->fetch_sub(1);
  }

  void Begin(std::string head) {
    std::string piece = std::move(head);
    base::Result<bool> has_more = Read(piece, kPieceBytes);
    if (has_more && *has_more) {
      is_counted_ = true;
      if (streams_->fetch_add(1) >= kMaxStreams) has_more = Read(piece, std::string::npos);
    }
    if (!has_more) return responder_->Send(ToResponse(FromError(has_more.error())));
    if (!*has_more) return responder_->Send({200, JsonHeaders(), std::move(piece)});
    cursor_->StayLong();
    const std::shared_ptr<net::Responder> responder = responder_;
    responder->Start(200, JsonHeaders());
    responder->Write(std::move(piece));
    timer_ = timers_->After(kStreamTime, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->BreakOff();
    });
    AwaitRoom(*responder);
  }

 private:
  // Appends rows until there are `limit` bytes; returns whether there may be more.
  base::Result<bool> Read(std::string& piece, size_t limit) {
    while (piece.size() < limit) {
      TRY_ASSIGN(const std::optional<store::Row> row, cursor_->Next());
      if (!row) {
        piece += tail_;
        cursor_.reset();
        return false;
      }
      const size_t before = piece.size();
      if (has_item_) piece += ',';
      const size_t begin = piece.size();
      put_(*row, piece);
      if (piece.size() == begin) {
        piece.resize(before);
      } else {
        has_item_ = true;
      }
    }
    return true;
  }

  // Without the lock, because it calls back at once when everything has been sent.
  void AwaitRoom(net::Responder& responder) {
    responder.WhenTaken(kLowBytes, [self = shared_from_this()] { self->GoOn(); });
  }

  void GoOn() {
    if (const auto responder = WriteMore()) AwaitRoom(*responder);
  }

  // Writes until the peer has enough; nullptr when the list is complete.
  std::shared_ptr<net::Responder> WriteMore() {
    const std::lock_guard lock(mutex_);
    while (responder_ && !responder_->IsClosed()) {
      std::string piece;
      piece.reserve(kPieceBytes + kLowBytes);
      const base::Result<bool> has_more = Read(piece, kPieceBytes);
      if (!has_more) {
        base::LogWarn("a list is cut off: {}", has_more.error().message);
        break;
      }
      responder_->Write(std::move(piece));
      if (!*has_more) {
        responder_->Finish();
        break;
      }
      if (responder_->PendingBytes() > kLowBytes) return responder_;
    }
    End();
    return nullptr;
  }

  void BreakOff() {
    const std::lock_guard lock(mutex_);
    End();
  }

  // The caller holds mutex_. An incomplete answer is cut off.
  void End() {
    cursor_.reset();
    responder_.reset();
  }

  const std::shared_ptr<std::atomic<int>> streams_;
  const std::shared_ptr<Timers> timers_;
  std::mutex mutex_;  // guards the members below, once it streams
  std::unique_ptr<store::ListCursor> cursor_;
  const PutItem put_;
  const std::string tail_;
  std::shared_ptr<net::Responder> responder_;
  std::optional<Timers::Id> timer_;
  bool has_item_ = false;
  bool is_counted_ = false;
};

}  // namespace

void SendList(Backend& backend, std::unique_ptr<store::ListCursor> cursor, PutItem put,
              std::string head, std::string tail, std::shared_ptr<net::Responder> responder) {
  std::make_shared<ListStream>(backend, std::move(cursor), std::move(put), std::move(tail),
                               std::move(responder))
      ->Begin(std::move(head));
}

}  // namespace local::server
