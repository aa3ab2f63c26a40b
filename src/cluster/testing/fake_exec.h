// For tests: the client's end of a WebSocket whose server follows a script.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/exec/exec.h"

namespace cluster {

// Shared by the test and the socket. Thread safe.
class ExecScript {
 public:
  // Queues the server's next message. Close or Break follows the last one.
  void Say(char channel, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::string(1, channel).append(bytes));
    changed_.notify_all();
  }
  void SayStatus(const base::Result<int>& exit_code) {
    Say(kExecStatus, text::ToJson(ExecStatus(exit_code)));
    Close();
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  // Waits until this many messages have come.
  std::vector<std::string> Heard(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return heard_.size() >= count; });
    return heard_;
  }
  // Waits until the client has cancelled it.
  bool AwaitCancel() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return is_cancelled_; });
  }
  std::string protocol = kExecProtocolV5;

 private:
  friend class ScriptedSocket;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> messages_;
  std::vector<std::string> heard_;
  bool is_closed_ = false;
  bool is_cancelled_ = false;
};

class ScriptedSocket final : public net::WebSocket {
 public:
  explicit ScriptedSocket(std::shared_ptr<ExecScript> script) : script_(std::move(script)) {}

  const std::string& protocol() const override { return script_->protocol; }
  base::Result<std::optional<net::WebSocketPiece>> Read() override {
    ExecScript& script = *script_;
    std::unique_lock lock(script.mutex_);
    script.changed_.wait(lock, [&] {
      return script.is_cancelled_ || script.is_closed_ || !script.messages_.empty();
    });
    if (script.is_cancelled_) return base::Fail(base::Code::kCancelled, "cancelled");
    if (script.messages_.empty()) return std::optional<net::WebSocketPiece>();
    net::WebSocketPiece piece;
    piece.payload = std::move(script.messages_.front());
    script.messages_.pop_front();
    return std::optional(std::move(piece));
  }
  base::Status Send(std::string_view message) override {
    const std::lock_guard lock(script_->mutex_);
    if (script_->is_cancelled_) return base::Fail(base::Code::kCancelled, "cancelled");
    script_->heard_.emplace_back(message);
    script_->changed_.notify_all();
    return {};
  }
  void Cancel() override {
    const std::lock_guard lock(script_->mutex_);
    script_->is_cancelled_ = true;
    script_->changed_.notify_all();
  }

 private:
  const std::shared_ptr<ExecScript> script_;
};

}  // namespace cluster
