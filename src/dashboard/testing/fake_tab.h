// For tests: a tab of a browser, as a stream of events sees it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "net/http/types.h"

namespace dashboard {

// What it was sent, and how much of that it has not read.
class FakeTab : public net::Responder {
 public:
  void Send(net::HttpResponse) override {}
  void Start(int status, net::Headers) override { status_ = status; }
  void Write(std::string chunk) override {
    const std::lock_guard lock(mutex_);
    text_ += chunk;
    if (!last_read_.empty() && chunk.find(last_read_) != std::string::npos) pending_ += behind_;
    changed_.notify_all();
  }
  void Finish() override {}
  void CutShort(std::string) override {}
  void Upgrade(net::Headers, std::function<void(std::string_view)>) override {}
  void Used(size_t) override {}
  size_t PendingBytes() const override {
    const std::lock_guard lock(mutex_);
    return pending_;
  }
  void WhenTaken(size_t, std::function<void()> callback) override {
    const std::lock_guard lock(mutex_);
    when_taken_ = std::move(callback);
  }
  bool IsClosed() const override { return is_closed_; }
  void OnClose(std::function<void()> callback) override { on_close_ = std::move(callback); }

  // Whether it comes within ten seconds.
  bool Await(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return text_.find(text) != std::string::npos; });
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  size_t Count(const std::string& text) {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (size_t at = 0; (at = text_.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  }
  // Stops reading after an event that contains `text`, and has `bytes` unread from then on.
  void FallBehindAfter(std::string text, size_t bytes) {
    const std::lock_guard lock(mutex_);
    last_read_ = std::move(text);
    behind_ = bytes;
  }
  void Read() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      pending_ = 0;
      last_read_.clear();
      callback = std::move(when_taken_);
    }
    if (callback) callback();
  }
  void Close() {
    is_closed_ = true;
    on_close_();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  size_t pending_ = 0;
  std::string last_read_;
  size_t behind_ = 0;
  std::atomic<bool> is_closed_{false};
  int status_ = 0;
  std::function<void()> when_taken_, on_close_;
};

}  // namespace dashboard
