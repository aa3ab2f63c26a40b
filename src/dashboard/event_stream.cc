#include "dashboard/event_stream.h"

#include <fmt/format.h>

#include "dashboard/answer.h"

namespace dashboard {

std::string FormatEvent(std::string_view name, std::string_view json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

std::shared_ptr<EventStream> EventStream::Begin(std::shared_ptr<net::Responder> responder,
                                                std::function<void()> on_read) {
  const std::shared_ptr<EventStream> stream(
      new EventStream(std::move(responder), std::move(on_read)));
  stream->responder_->Start(200, DataHeaders("text/event-stream"));
  return stream;
}

void EventStream::Send(std::string_view name, std::string_view json) {
  responder_->Write(FormatEvent(name, json));
  if (responder_->PendingBytes() <= kMostBehind) return;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_behind_, true)) return;
  }
  responder_->WhenTaken(kLittleBehind, [weak = weak_from_this()] {
    if (const auto stream = weak.lock()) stream->HasRead();
  });
}

void EventStream::HasRead() {
  {
    const std::lock_guard lock(mutex_);
    is_behind_ = false;
  }
  read_.notify_all();
  on_read_();
}

bool EventStream::IsBehind() const {
  const std::lock_guard lock(mutex_);
  return is_behind_;
}

bool EventStream::AwaitRead(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return read_.wait(lock, stop, [this] { return !is_behind_; }) && !stop.stop_requested() &&
         !responder_->IsClosed();
}

}  // namespace dashboard
