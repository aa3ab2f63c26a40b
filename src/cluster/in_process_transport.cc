#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "cluster/transport.h"
#include "net/http/response_stream.h"

namespace cluster {
namespace {

// The same time that other API servers are given.
constexpr std::chrono::seconds kAnswerTimeout{60};

// Producers ring it. It outlives the answer if one of them still holds the stream.
class Bell {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  void Ring() { Set(is_rung_); }
  void Cancel() { Set(is_cancelled_); }
  base::Status Wait(Deadline deadline) {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return is_rung_ || is_cancelled_; };
    if (!deadline) {
      changed_.wait(lock, is_over);
    } else if (!changed_.wait_until(lock, *deadline, is_over)) {
      return base::Fail(base::Code::kTimeout, "the server did not answer in time");
    }
    if (is_cancelled_) return base::Fail(base::Code::kCancelled, "cancelled");
    is_rung_ = false;
    return {};
  }

 private:
  void Set(bool& flag) {
    const std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_rung_ = false;
  bool is_cancelled_ = false;
};

// A handler's answer. The constructor calls the handler.
class InProcessAnswer final : public net::BodyStream {
 public:
  InProcessAnswer(const net::HttpHandler& handler, net::HttpRequest request)
      : bell_(std::make_shared<Bell>()),
        stream_(std::make_shared<net::ResponseStream>([bell = bell_] { bell->Ring(); },
                                                      /*wants_parsed=*/true)),
        deadline_(std::chrono::steady_clock::now() + kAnswerTimeout) {
    handler(std::move(request), net::MakeResponder(stream_));
  }
  ~InProcessAnswer() override { stream_->Close(); }
  InProcessAnswer(const InProcessAnswer&) = delete;
  InProcessAnswer& operator=(const InProcessAnswer&) = delete;

  // Blocks until the handler has sent a head.
  base::Status AwaitHead() { return Take(); }
  // Removes the deadline.
  void DropDeadline() { deadline_.reset(); }

  int status() const override { return head_.status; }
  const net::Headers& headers() const override { return head_.headers; }
  net::Parsed parsed() const { return head_.parsed; }

  base::Result<std::optional<std::string>> Read() override {
    while (unread_.pieces.empty()) {
      if (unread_.is_finished) {
        stream_->Close();
        return std::optional<std::string>();
      }
      TRY(Take());
    }
    std::string bytes = std::move(unread_.pieces.front());
    for (size_t i = 1; i < unread_.pieces.size(); ++i) bytes += unread_.pieces[i];
    unread_.pieces.clear();
    size_t taken = bytes.size();
    for (const net::ParsedLine& line : unread_.parsed) taken += line.bytes;
    stream_->Taken(taken);
    return std::optional(std::move(bytes));
  }
  std::vector<net::ParsedLine> TakeParsed() override { return std::exchange(unread_.parsed, {}); }

  void Cancel() override {
    bell_->Cancel();
    stream_->Close();
  }

 private:
  base::Status Take() {
    TRY(bell_->Wait(deadline_));
    unread_ = stream_->Take();
    if (unread_.is_broken) return base::Fail(base::Code::kUnavailable, "the answer broke off");
    if (unread_.head) head_ = std::move(*unread_.head);
    return {};
  }

  const std::shared_ptr<Bell> bell_;
  const std::shared_ptr<net::ResponseStream> stream_;
  Bell::Deadline deadline_;
  net::ResponseStream::Head head_;
  net::ResponseStream::Output unread_;
};

base::Result<net::HttpResponse> ReadWhole(InProcessAnswer& answer) {
  TRY(answer.AwaitHead());
  net::HttpResponse response{answer.status(), answer.headers(), "", answer.parsed()};
  while (true) {
    TRY_ASSIGN(std::optional<std::string> bytes, answer.Read());
    if (!bytes) return response;
    if (response.body.empty()) {
      response.body = std::move(*bytes);
    } else {
      response.body += *bytes;
    }
    if (response.body.size() > net::kMaxResponseBytes) {
      return base::Fail(base::Code::kExhausted, "answer too large");
    }
  }
}

class InProcess final : public Transport {
 public:
  explicit InProcess(net::HttpHandler handler) : handler_(std::move(handler)) {}

  bool TakesParsed() const override { return true; }

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    InProcessAnswer answer(handler_, request);
    return ReadWhole(answer);
  }

  base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                          const TakeBody& take) override {
    InProcessAnswer answer(handler_, request);
    TRY(answer.AwaitHead());
    return ReceiveStream(answer, take);
  }

  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    std::vector<std::unique_ptr<InProcessAnswer>> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) {
      answers.push_back(std::make_unique<InProcessAnswer>(handler_, request));
    }
    std::vector<base::Result<net::HttpResponse>> responses;
    responses.reserve(requests.size());
    for (const auto& answer : answers) responses.push_back(ReadWhole(*answer));
    return responses;
  }

  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    auto answer = std::make_unique<InProcessAnswer>(handler_, request);
    TRY(answer->AwaitHead());
    answer->DropDeadline();
    return std::unique_ptr<net::BodyStream>(std::move(answer));
  }

 private:
  const net::HttpHandler handler_;
};

}  // namespace

std::unique_ptr<Transport> InProcessTransport(net::HttpHandler handler) {
  return std::make_unique<InProcess>(std::move(handler));
}

}  // namespace cluster
