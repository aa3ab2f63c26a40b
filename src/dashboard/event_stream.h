// Sends server-sent events (WHATWG HTML, 9.2) to one tab of a browser.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "net/http/types.h"

namespace dashboard {

// "event: NAME\ndata: JSON\n\n". `json` must be one line, as text::ToJson writes it. Pure.
std::string FormatEvent(std::string_view name, std::string_view json);

// A tab is behind once it has more than this to read, and until less than kLittleBehind is left.
inline constexpr size_t kMostBehind = 1 << 20;
inline constexpr size_t kLittleBehind = 64 << 10;

// Thread safe: events are never mixed. Writers check whether the tab is behind, and then skip or
// wait.
class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  // Begins the answer. `on_read` runs once a tab that was behind has caught up; on any thread,
  // including one that sends.
  static std::shared_ptr<EventStream> Begin(std::shared_ptr<net::Responder> responder,
                                            std::function<void()> on_read);

  void Send(std::string_view name, std::string_view json);
  bool IsBehind() const;
  // The tab is gone.
  bool IsClosed() const { return responder_->IsClosed(); }
  // Blocks while the tab is behind; false once `stop` is requested or the tab is closed.
  bool AwaitRead(const std::stop_token& stop);
  void OnClose(std::function<void()> callback) { responder_->OnClose(std::move(callback)); }

 private:
  EventStream(std::shared_ptr<net::Responder> responder, std::function<void()> on_read)
      : responder_(std::move(responder)), on_read_(std::move(on_read)) {}
  void HasRead();

  const std::shared_ptr<net::Responder> responder_;
  const std::function<void()> on_read_;
  mutable std::mutex mutex_;
  std::condition_variable_any read_;
  bool is_behind_ = false;
};

}  // namespace dashboard
