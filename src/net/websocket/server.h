// The server's end of a WebSocket, on a connection of an HttpServer.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/types.h"
#include "net/websocket/frame.h"

namespace net {

// Answers pings, returns a close, and disconnects a peer that violates the protocol, with a
// message. Lives while it is referenced; then the connection ends. Callable from any thread.
class WebSocketPeer : public std::enable_shared_from_this<WebSocketPeer> {
 public:
  // Data messages, in order, on the server's thread. Each piece's payload counts towards
  // kMaxUnusedBytes until Used.
  using Receive = std::function<void(WebSocketPiece piece)>;

  // Answers 101. `headers` come from AcceptWebSocket. `receive` may be called on another thread
  // before this returns.
  static std::shared_ptr<WebSocketPeer> Start(std::shared_ptr<Responder> responder, Headers headers,
                                              Receive receive);

  // A whole binary message.
  void Send(std::string_view message);
  // After everything sent before; nothing can be sent afterwards.
  void Close(WebSocketClose code, std::string_view reason);
  void Used(size_t bytes) { responder_->Used(bytes); }

  // Like Responder's.
  size_t PendingBytes() const { return responder_->PendingBytes(); }
  void WhenTaken(size_t limit, std::function<void()> callback) {
    responder_->WhenTaken(limit, std::move(callback));
  }
  void OnClose(std::function<void()> callback) { responder_->OnClose(std::move(callback)); }

 private:
  WebSocketPeer(std::shared_ptr<Responder> responder, Receive receive)
      : responder_(std::move(responder)), receive_(std::move(receive)) {}

  void Input(std::string_view bytes);
  void OnControl(const WebSocketPiece& piece);

  const std::shared_ptr<Responder> responder_;
  const Receive receive_;
  WebSocketParser parser_{WebSocketParser::Peer::kClient};  // used by the server's thread
  bool is_input_over_ = false;                              // likewise

  std::mutex mutex_;  // orders the output
  bool is_closed_ = false;
};

}  // namespace net
