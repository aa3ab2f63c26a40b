// For tests: an API server in this process that gives the answers that a test queues.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cluster/transport.h"
#include "net/http/types.h"
#include "text/json.h"

namespace cluster {

// Longer than any test takes: reaching it is a failure.
inline constexpr std::chrono::seconds kTestPatience{60};

// Answers the requests in turn with the queued answers, and keeps them for the test. Thread safe.
class FakeServer {
 public:
  using Answer = std::function<void(std::shared_ptr<net::Responder>)>;

  void Queue(Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  void Queue(net::HttpResponse response) {
    Queue([r = std::move(response)](const std::shared_ptr<net::Responder>& responder) {
      responder->Send(r);
    });
  }
  void QueueJson(std::string body, int status = 200) { Queue({status, {}, std::move(body)}); }
  // A stream that stays open in Stream().
  void QueueStream(std::string first = "") {
    Queue([this, first = std::move(first)](std::shared_ptr<net::Responder> responder) {
      responder->Start(200, {});
      responder->Write(first);
      const std::lock_guard lock(mutex_);
      streams_.push_back(std::move(responder));
    });
  }
  // A stream that ends.
  void QueueWhole(std::string body) {
    Queue([body = std::move(body)](const std::shared_ptr<net::Responder>& responder) {
      responder->Start(200, {});
      responder->Write(body);
      responder->Finish();
    });
  }

  std::unique_ptr<Transport> Connect() {
    return InProcessTransport(
        [this](net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
          Serve(std::move(request), std::move(responder));
        });
  }

  // Waits for the n-th request (from 0).
  net::HttpRequest Request(size_t n) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestPatience, [&] { return requests_.size() > n; })) {
      ADD_FAILURE() << "request " << n << " never came";
      return {};
    }
    return requests_[n];
  }
  std::string Line(size_t n) {
    const net::HttpRequest request = Request(n);
    return request.method + " " + request.target;
  }
  std::shared_ptr<net::Responder> Stream(size_t n) {
    const std::lock_guard lock(mutex_);
    return streams_.at(n);
  }

 private:
  void Serve(net::HttpRequest request, std::shared_ptr<net::Responder> responder) {
    // As a server outside of this process would get it.
    if (request.parsed) request.body = text::ToJson(*std::exchange(request.parsed, nullptr));
    Answer answer = [](const std::shared_ptr<net::Responder>& r) {
      r->Send({503, {}, "nothing queued"});
    };
    {
      const std::lock_guard lock(mutex_);
      if (!answers_.empty()) {
        answer = std::move(answers_.front());
        answers_.pop_front();
      }
    }
    answer(std::move(responder));
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Answer> answers_;
  std::vector<net::HttpRequest> requests_;
  std::vector<std::shared_ptr<net::Responder>> streams_;
};

}  // namespace cluster
