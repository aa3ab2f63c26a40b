#include "net/websocket/server.h"

#include <utility>

namespace net {

std::shared_ptr<WebSocketPeer> WebSocketPeer::Start(std::shared_ptr<Responder> responder,
                                                    Headers headers, Receive receive) {
  std::shared_ptr<WebSocketPeer> peer(new WebSocketPeer(std::move(responder), std::move(receive)));
  peer->responder_->Upgrade(std::move(headers),
                            [weak = peer->weak_from_this()](std::string_view bytes) {
                              if (const auto self = weak.lock()) self->Input(bytes);
                            });
  return peer;
}

void WebSocketPeer::Send(std::string_view message) {
  std::string frame = FormatWebSocketFrame(WebSocketOpcode::kBinary, message, std::nullopt);
  const std::lock_guard lock(mutex_);
  if (!is_closed_) responder_->Write(std::move(frame));
}

void WebSocketPeer::Close(WebSocketClose code, std::string_view reason) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
    responder_->Write(FormatWebSocketFrame(WebSocketOpcode::kClose,
                                           FormatWebSocketClose(code, reason), std::nullopt));
  }
  // Calls back the waiters for the end, which have locks of their own.
  responder_->Finish();
}

void WebSocketPeer::Input(std::string_view bytes) {
  if (is_input_over_) return responder_->Used(bytes.size());
  std::vector<WebSocketPiece> pieces;
  const base::Status read = parser_.Feed(bytes, pieces);
  size_t data_bytes = 0;
  for (const WebSocketPiece& piece : pieces) {
    if (piece.is_data()) data_bytes += piece.payload.size();
  }
  responder_->Used(bytes.size() - data_bytes);
  for (WebSocketPiece& piece : pieces) {
    if (piece.is_data()) {
      receive_(std::move(piece));
    } else {
      OnControl(piece);
    }
  }
  if (read) return;
  is_input_over_ = true;
  const bool is_too_big = read.error().code == base::Code::kExhausted;
  Close(is_too_big ? WebSocketClose::kTooBig : WebSocketClose::kProtocolError,
        read.error().message);
}

void WebSocketPeer::OnControl(const WebSocketPiece& piece) {
  if (piece.opcode == WebSocketOpcode::kClose) {
    is_input_over_ = true;
    return Close(WebSocketClose::kNormal, "");
  }
  if (piece.opcode != WebSocketOpcode::kPing) return;
  // A peer that does not read gets no more pongs: not every ping needs one.
  if (responder_->PendingBytes() > kMaxUnusedBytes) return;
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  responder_->Write(FormatWebSocketFrame(WebSocketOpcode::kPong, piece.payload, std::nullopt));
}

}  // namespace net
