#include "net/http/response_stream.h"

#include <iterator>
#include <utility>

namespace net {
namespace {

// Smaller pieces are joined, so that many lines need one chunk and one system call.
constexpr size_t kSmallPiece = 4 << 10;

class StreamResponder final : public Responder {
 public:
  explicit StreamResponder(std::shared_ptr<ResponseStream> stream) : stream_(std::move(stream)) {}
  ~StreamResponder() override { stream_->Abandon(); }

  void Send(HttpResponse response) override { stream_->Send(std::move(response)); }
  void Start(int status, Headers headers) override { stream_->Start(status, std::move(headers)); }
  void Write(std::string chunk) override { stream_->Write(std::move(chunk)); }
  bool TakesParsed() const override { return stream_->wants_parsed(); }
  void WriteLines(std::string chunk, std::vector<ParsedLine> parsed) override {
    stream_->WriteLines(std::move(chunk), std::move(parsed));
  }
  void Finish() override { stream_->Finish(); }
  void CutShort(std::string last) override { stream_->CutShort(std::move(last)); }
  void Upgrade(Headers headers, std::function<void(std::string_view)> receive) override {
    stream_->Upgrade(std::move(headers), std::move(receive));
  }
  void Used(size_t bytes) override { stream_->Used(bytes); }
  void WhenTaken(size_t limit, std::function<void()> callback) override {
    stream_->WhenTaken(limit, std::move(callback));
  }
  size_t PendingBytes() const override { return stream_->pending_bytes(); }
  bool IsClosed() const override { return stream_->is_closed(); }
  void OnClose(std::function<void()> callback) override { stream_->OnClose(std::move(callback)); }

 private:
  const std::shared_ptr<ResponseStream> stream_;
};

}  // namespace

bool ResponseStream::Push() { return !std::exchange(is_wake_outstanding_, true); }

ResponseStream::Output ResponseStream::Take(size_t room) {
  const std::lock_guard lock(mutex_);
  is_wake_outstanding_ = false;
  Output output;
  output.head = std::exchange(head_, std::nullopt);
  size_t count = 0;
  for (size_t taken = 0; count < pieces_.size() && taken < room; ++count) {
    taken += pieces_[count].size();
  }
  if (count == pieces_.size()) {
    output.pieces = std::exchange(pieces_, {});
  } else {
    const auto end = pieces_.begin() + static_cast<std::ptrdiff_t>(count);
    output.pieces.assign(std::make_move_iterator(pieces_.begin()), std::make_move_iterator(end));
    pieces_.erase(pieces_.begin(), end);
  }
  output.parsed = std::exchange(parsed_, {});
  output.is_finished = phase_ == Phase::kFinished && pieces_.empty();
  output.is_cut_short = is_cut_short_;
  output.is_broken = phase_ == Phase::kBroken;
  return output;
}

void ResponseStream::Taken(size_t bytes) {
  pending_bytes_.fetch_sub(bytes);
  if (has_when_taken_.load()) CallWhenTaken();
}

// WhenTaken and Taken each change one of two values before they read the other, so at least one of
// them sees both changes.
void ResponseStream::CallWhenTaken() {
  std::function<void()> callback;
  {
    const std::lock_guard lock(mutex_);
    if (!when_taken_ || (!is_closed() && pending_bytes_.load() > taken_limit_)) return;
    callback = std::exchange(when_taken_, {});
    has_when_taken_.store(false);
  }
  callback();
}

void ResponseStream::WhenTaken(size_t limit, std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    taken_limit_ = limit;
    when_taken_ = std::move(callback);
    has_when_taken_.store(true);
  }
  CallWhenTaken();
}

void ResponseStream::Receive(std::string_view bytes) {
  std::shared_ptr<std::function<void(std::string_view)>> receive;
  {
    const std::lock_guard lock(mutex_);
    receive = receive_;
  }
  if (!receive) return;
  unused_bytes_.fetch_add(bytes.size());
  (*receive)(bytes);
}

void ResponseStream::Used(size_t bytes) {
  const size_t before = unused_bytes_.fetch_sub(bytes);
  if (before < kMaxUnusedBytes || before - bytes >= kMaxUnusedBytes) return;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || !Push()) return;
  }
  wake_();
}

void ResponseStream::Close() {
  std::vector<std::function<void()>> callbacks;
  std::vector<std::string> dropped;
  std::vector<ParsedLine> dropped_values;
  std::shared_ptr<std::function<void(std::string_view)>> receive;
  {
    const std::lock_guard lock(mutex_);
    is_closed_.store(true, std::memory_order_release);
    callbacks.swap(on_close_);
    dropped.swap(pieces_);
    dropped_values.swap(parsed_);
    receive.swap(receive_);
  }
  for (const auto& callback : callbacks) callback();
  if (has_when_taken_.load()) CallWhenTaken();
}

void ResponseStream::Send(HttpResponse response) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ != Phase::kSilent) return;
    phase_ = Phase::kFinished;
    head_ = Head{response.status, std::move(response.headers)};
    if (wants_parsed_) head_->parsed = std::move(response.parsed);
    pending_bytes_.fetch_add(response.body.size(), std::memory_order_relaxed);
    if (!response.body.empty()) pieces_.push_back(std::move(response.body));
    if (!Push()) return;
  }
  wake_();
}

void ResponseStream::Start(int status, Headers headers) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ != Phase::kSilent) return;
    phase_ = Phase::kStarted;
    head_ = Head{status, std::move(headers)};
    if (!Push()) return;
  }
  wake_();
}

void ResponseStream::Upgrade(Headers headers, std::function<void(std::string_view)> receive) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ != Phase::kSilent) return;
    phase_ = Phase::kStarted;
    head_ = Head{kSwitchingProtocols, std::move(headers), true};
    receive_ = std::make_shared<std::function<void(std::string_view)>>(std::move(receive));
    if (!Push()) return;
  }
  wake_();
}

void ResponseStream::WriteLines(std::string chunk, std::vector<ParsedLine> parsed) {
  if (chunk.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ != Phase::kStarted) return;
    pending_bytes_.fetch_add(chunk.size(), std::memory_order_relaxed);
    for (ParsedLine& line : parsed) {
      if (!wants_parsed_) break;
      pending_bytes_.fetch_add(line.bytes, std::memory_order_relaxed);
      parsed_.push_back({written_ + line.begin, std::move(line.object), line.bytes});
    }
    written_ += chunk.size();
    if (!pieces_.empty() && pieces_.back().size() + chunk.size() <= kSmallPiece) {
      pieces_.back() += chunk;
    } else {
      pieces_.push_back(std::move(chunk));
    }
    if (!Push()) return;
  }
  wake_();
}

void ResponseStream::Finish() {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ != Phase::kStarted) return;
    phase_ = Phase::kFinished;
    if (!Push()) return;
  }
  wake_();
}

void ResponseStream::CutShort(std::string last) {
  bool is_to_wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ != Phase::kStarted) return;
    for (const std::string& piece : pieces_) pending_bytes_.fetch_sub(piece.size());
    for (const ParsedLine& line : parsed_) pending_bytes_.fetch_sub(line.bytes);
    pieces_.clear();
    parsed_.clear();
    pending_bytes_.fetch_add(last.size(), std::memory_order_relaxed);
    if (!last.empty()) pieces_.push_back(std::move(last));
    phase_ = Phase::kFinished;
    is_cut_short_ = true;
    is_to_wake = Push();
  }
  if (is_to_wake) wake_();
  if (has_when_taken_.load()) CallWhenTaken();
}

void ResponseStream::Abandon() {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed() || phase_ == Phase::kFinished) return;
    if (phase_ == Phase::kSilent) {
      phase_ = Phase::kFinished;
      head_ = Head{500, {{"Content-Type", "text/plain"}}};
      pieces_.emplace_back("the request was dropped without an answer\n");
      pending_bytes_.fetch_add(pieces_.back().size(), std::memory_order_relaxed);
    } else {
      phase_ = Phase::kBroken;
    }
    if (!Push()) return;
  }
  wake_();
}

void ResponseStream::OnClose(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_closed()) {
      on_close_.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

std::shared_ptr<Responder> MakeResponder(std::shared_ptr<ResponseStream> stream) {
  return std::make_shared<StreamResponder>(std::move(stream));
}

}  // namespace net
