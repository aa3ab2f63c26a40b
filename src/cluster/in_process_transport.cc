#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "cluster/transport.h"
#include "net/http/response_stream.h"

namespace cluster {
namespace {

// As long as any other API server is given.
constexpr std::chrono::seconds kAnswerTimeout{60};

// The consumer's end of an exchange with a handler in this process. Take from one thread, Cancel
// from any.
class PendingAnswer {
 public:
  PendingAnswer(const net::HttpHandler& handler, net::HttpRequest request)
      : bell_(std::make_shared<Bell>()),
        exchange_(std::make_shared<net::Exchange>([bell = bell_] { bell->Ring(); })) {
    handler(std::move(request), net::MakeResponder(exchange_));
  }
  PendingAnswer(PendingAnswer&&) = default;
  ~PendingAnswer() {
    if (exchange_) exchange_->Close();
  }

  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  // What is new, as soon as there is something. Nothing new comes after the end: do not ask.
  base::Result<net::Exchange::Output> Take(Deadline deadline) {
    TRY(bell_->Wait(deadline));
    net::Exchange::Output output = exchange_->Take();
    if (output.is_broken) {
      return base::Fail(base::Code::kUnavailable, "the answer broke off");
    }
    return output;
  }
  // `bytes` of the body have been used.
  void Used(size_t bytes) { exchange_->Taken(bytes); }
  void Cancel() { bell_->Cancel(); }
  void Close() { exchange_->Close(); }

 private:
  // Outlives the answer where a producer still holds the exchange.
  class Bell {
   public:
    void Ring() {
      const std::lock_guard lock(mutex_);
      is_rung_ = true;
      changed_.notify_all();
    }
    void Cancel() {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
      changed_.notify_all();
    }
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
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_rung_ = false;
    bool is_cancelled_ = false;
  };

  std::shared_ptr<Bell> bell_;
  std::shared_ptr<net::Exchange> exchange_;
};

class InProcessBodyStream final : public net::BodyStream {
 public:
  // Blocks until the handler has sent a head.
  static base::Result<std::unique_ptr<net::BodyStream>> Open(PendingAnswer answer) {
    const auto deadline = std::chrono::steady_clock::now() + kAnswerTimeout;
    TRY_ASSIGN(net::Exchange::Output first, answer.Take(deadline));
    return std::unique_ptr<net::BodyStream>(
        new InProcessBodyStream(std::move(answer), std::move(first)));
  }
  int status() const override { return head_.status; }
  const net::Headers& headers() const override { return head_.headers; }

  base::Result<std::optional<std::string>> Read() override {
    while (unread_.pieces.empty()) {
      if (unread_.is_finished) {
        answer_.Close();
        return std::optional<std::string>();
      }
      TRY_ASSIGN(unread_, answer_.Take(std::nullopt));
    }
    std::string bytes;
    for (const std::string& piece : unread_.pieces) bytes += piece;
    unread_.pieces.clear();
    answer_.Used(bytes.size());
    return std::optional(std::move(bytes));
  }

  void Cancel() override {
    answer_.Cancel();
    answer_.Close();
  }

 private:
  InProcessBodyStream(PendingAnswer answer, net::Exchange::Output first)
      : answer_(std::move(answer)), head_(std::move(*first.head)), unread_(std::move(first)) {}

  PendingAnswer answer_;
  const net::Exchange::Head head_;
  net::Exchange::Output unread_;
};

// The head; the body's pieces go to `take`, which sees the head.
using TakePiece = std::function<base::Status(const net::HttpResponse& head, std::string piece)>;
base::Result<net::HttpResponse> ReadAnswer(PendingAnswer& answer, const TakePiece& take) {
  const auto deadline = std::chrono::steady_clock::now() + kAnswerTimeout;
  net::HttpResponse response;
  while (true) {
    TRY_ASSIGN(net::Exchange::Output output, answer.Take(deadline));
    if (output.head) {
      response.status = output.head->status;
      response.headers = std::move(output.head->headers);
    }
    for (std::string& piece : output.pieces) {
      const size_t bytes = piece.size();
      TRY(take(response, std::move(piece)));
      answer.Used(bytes);
    }
    if (output.is_finished) return response;
  }
}

base::Status Gather(std::string& body, std::string piece) {
  if (body.empty()) {
    body = std::move(piece);
  } else {
    body += piece;
  }
  if (body.size() <= net::kMaxResponseBytes) return {};
  return base::Fail(base::Code::kExhausted, "answer too large");
}

base::Result<net::HttpResponse> ReadWhole(PendingAnswer& answer) {
  std::string body;
  TRY_ASSIGN(net::HttpResponse response,
             ReadAnswer(answer, [&body](const net::HttpResponse&, std::string piece) {
               return Gather(body, std::move(piece));
             }));
  response.body = std::move(body);
  return response;
}

class InProcess final : public Transport {
 public:
  explicit InProcess(net::HttpHandler handler) : handler_(std::move(handler)) {}

  base::Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    PendingAnswer answer(handler_, request);
    return ReadWhole(answer);
  }

  base::Result<net::HttpResponse> Receive(const net::HttpRequest& request,
                                          const TakeBody& take) override {
    PendingAnswer answer(handler_, request);
    std::string refusal;
    TRY_ASSIGN(net::HttpResponse response,
               ReadAnswer(answer, [&](const net::HttpResponse& head, std::string piece) {
                 return head.status / 100 == 2 ? take(piece) : Gather(refusal, std::move(piece));
               }));
    response.body = std::move(refusal);
    return response;
  }

  std::vector<base::Result<net::HttpResponse>> SendAll(
      std::span<const net::HttpRequest> requests) override {
    std::vector<PendingAnswer> answers;
    answers.reserve(requests.size());
    for (const auto& request : requests) answers.emplace_back(handler_, request);
    std::vector<base::Result<net::HttpResponse>> responses;
    responses.reserve(requests.size());
    for (PendingAnswer& answer : answers) responses.push_back(ReadWhole(answer));
    return responses;
  }

  base::Result<std::unique_ptr<net::BodyStream>> Open(const net::HttpRequest& request) override {
    return InProcessBodyStream::Open(PendingAnswer(handler_, request));
  }

 private:
  const net::HttpHandler handler_;
};

}  // namespace

std::unique_ptr<Transport> InProcessTransport(net::HttpHandler handler) {
  return std::make_unique<InProcess>(std::move(handler));
}

}  // namespace cluster
