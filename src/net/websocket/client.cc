#include "net/websocket/client.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <deque>
#include <mutex>
#include <utility>

#include "net/websocket/handshake.h"

namespace net {
namespace {

// Web pages in browsers must not be able to predict a mask: that is what masks are for (RFC 6455
// section 10.3).
WebSocketMask NewMask() {
  WebSocketMask mask{};
  while (::getrandom(mask.data(), mask.size(), 0) < 0) {
  }
  return mask;
}

class ClientWebSocket final : public WebSocket {
 public:
  ClientWebSocket(std::unique_ptr<ByteStream> stream, std::string protocol)
      : stream_(std::move(stream)), protocol_(std::move(protocol)) {}

  const std::string& protocol() const override { return protocol_; }
  base::Result<std::optional<WebSocketPiece>> Read() override;
  base::Status Send(std::string_view message) override {
    return SendFrame(WebSocketOpcode::kBinary, message);
  }
  void Cancel() override { stream_->Cancel(); }

 private:
  base::Status SendFrame(WebSocketOpcode opcode, std::string_view payload) {
    const std::string frame = FormatWebSocketFrame(opcode, payload, NewMask());
    const std::lock_guard lock(write_mutex_);
    return stream_->Write(frame);
  }
  base::Status ReadMore();
  base::Status OnClose(std::string_view payload);

  const std::unique_ptr<ByteStream> stream_;
  const std::string protocol_;
  WebSocketParser parser_{WebSocketParser::Peer::kServer};
  std::deque<WebSocketPiece> pieces_;  // not returned yet
  bool is_closed_ = false;
  std::mutex write_mutex_;
};

base::Result<std::optional<WebSocketPiece>> ClientWebSocket::Read() {
  while (true) {
    if (is_closed_) return std::optional<WebSocketPiece>();
    if (pieces_.empty()) TRY(ReadMore());
    WebSocketPiece piece = std::move(pieces_.front());
    pieces_.pop_front();
    if (piece.is_data()) return std::optional(std::move(piece));
    if (piece.opcode == WebSocketOpcode::kPing) {
      TRY(SendFrame(WebSocketOpcode::kPong, piece.payload));
    } else if (piece.opcode == WebSocketOpcode::kClose) {
      TRY(OnClose(piece.payload));
    }
  }
}

base::Status ClientWebSocket::ReadMore() {
  std::vector<WebSocketPiece> pieces;
  while (pieces.empty()) {
    TRY_ASSIGN(const std::optional<std::string> bytes, stream_->Read());
    if (!bytes) return base::Fail(base::Code::kUnavailable, "the server closed the connection");
    TRY(parser_.Feed(*bytes, pieces));
  }
  for (WebSocketPiece& piece : pieces) pieces_.push_back(std::move(piece));
  return {};
}

base::Status ClientWebSocket::OnClose(std::string_view payload) {
  is_closed_ = true;
  // The server may be gone by now, having sent everything.
  (void)SendFrame(WebSocketOpcode::kClose, payload.substr(0, 2));
  const WebSocketCloseReason reason = ParseWebSocketClose(payload);
  if (reason.code == static_cast<uint16_t>(WebSocketClose::kNormal)) return {};
  return base::Fail(base::Code::kUnavailable,
                    fmt::format("the server closed the connection: {} {}", reason.code,
                                reason.text.empty() ? "without a word" : reason.text));
}

}  // namespace

base::Result<WebSocketAnswer> OpenWebSocket(HttpClient& client, HttpRequest request,
                                            const std::vector<std::string>& protocols) {
  const std::string key = NewWebSocketKey();
  for (auto& header : WebSocketRequestHeaders(key, protocols)) {
    request.headers.push_back(std::move(header));
  }
  TRY_ASSIGN(UpgradeAnswer upgrade, client.Upgrade(request));
  WebSocketAnswer answer{upgrade.status, std::move(upgrade.body), nullptr,
                         std::move(upgrade.headers)};
  if (!upgrade.stream) return answer;
  TRY_ASSIGN(std::string protocol, CheckWebSocketAnswer(answer.headers, key, protocols));
  answer.socket = std::make_unique<ClientWebSocket>(std::move(upgrade.stream), std::move(protocol));
  return answer;
}

}  // namespace net
