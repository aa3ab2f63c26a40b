// One WebSocket to a client, shared by several forwarded ports that wait for it to drain.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "net/websocket/server.h"

namespace local::server {

// Thread safe. Held by the ports' sinks.
class SharedWebSocket : public std::enable_shared_from_this<SharedWebSocket> {
 public:
  // On the connection's thread, once; before anything else.
  void Start(std::shared_ptr<net::Responder> responder, net::Headers headers,
             net::WebSocketPeer::Receive receive) {
    socket_ =
        net::WebSocketPeer::Start(std::move(responder), std::move(headers), std::move(receive));
  }
  void OnClose(std::function<void()> callback) { socket_->OnClose(std::move(callback)); }
  void Send(std::string_view message) { socket_->Send(message); }
  void Close(net::WebSocketClose code, std::string_view reason) { socket_->Close(code, reason); }
  void Used(size_t bytes) { socket_->Used(bytes); }
  size_t PendingBytes() const { return socket_->PendingBytes(); }

  // Like PortSink::WhenTaken. The socket keeps one callback only, so this one calls all that wait.
  void WhenTaken(size_t limit, std::function<void()> callback) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(callback));
    }
    socket_->WhenTaken(limit, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      std::vector<std::function<void()>> waiting;
      {
        const std::lock_guard lock(self->mutex_);
        waiting.swap(self->waiting_);
      }
      for (const auto& each : waiting) each();
    });
  }

 private:
  std::shared_ptr<net::WebSocketPeer> socket_;
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace local::server
