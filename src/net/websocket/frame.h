// WebSocket frames as bytes (RFC 6455 section 5). Pure.
//
//    0               1               2 ...
//   |F|R R R| opcode |M| length (7)  | length (16 or 64, when 126 or 127) | mask (4, when M) |
//   payload
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace net {

enum class WebSocketOpcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// Section 7.4.1.
enum class WebSocketClose : uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kTooBig = 1009,
  kInternalError = 1011,
};

// The largest frame. Messages have no limit: they are passed on in pieces.
inline constexpr uint64_t kMaxWebSocketFrameBytes = 64 << 20;
inline constexpr size_t kMaxWebSocketControlBytes = 125;  // section 5.5

// A part of a data message, or a whole control frame.
struct WebSocketPiece {
  WebSocketOpcode opcode = WebSocketOpcode::kBinary;  // of the message; never kContinuation
  bool begins = true;                                 // it is the first piece of the message
  bool ends = true;                                   // it is the last piece
  std::string payload{};

  bool is_data() const {
    return opcode == WebSocketOpcode::kText || opcode == WebSocketOpcode::kBinary;
  }
};

// Parses the frames of one peer as their bytes arrive. Text messages are treated as bytes.
class WebSocketParser {
 public:
  // The sender of the frames: a client masks them, a server never does.
  enum class Peer { kClient, kServer };

  explicit WebSocketParser(Peer peer) : peer_(peer) {}

  // Consumes all of `input` and appends the pieces. kInvalidArgument when malformed, kExhausted
  // over a limit; the parser is unusable then. Everything after a close frame is ignored.
  base::Status Feed(std::string_view input, std::vector<WebSocketPiece>& pieces);

 private:
  size_t HeaderSize() const;
  base::Status BeginFrame();
  base::Status CheckOpcode(WebSocketOpcode opcode, bool is_final) const;
  base::Status TakePayload(std::string_view bytes, std::vector<WebSocketPiece>& pieces);
  base::Status EndControl(std::vector<WebSocketPiece>& pieces);

  const Peer peer_;
  std::array<unsigned char, 14> header_{};
  size_t header_bytes_ = 0;  // read so far
  bool is_in_payload_ = false;
  bool is_closed_ = false;

  // About the current frame.
  WebSocketOpcode opcode_ = WebSocketOpcode::kContinuation;
  bool is_final_ = false;
  uint64_t left_ = 0;  // of its payload
  uint64_t used_ = 0;
  std::array<unsigned char, 4> mask_{};
  std::string control_;

  // About the current data message.
  std::optional<WebSocketOpcode> message_;
  bool is_message_begun_ = false;  // a piece of it has been passed on
};

using WebSocketMask = std::array<unsigned char, 4>;

// One whole message or control frame; with a mask if a client sends it.
std::string FormatWebSocketFrame(WebSocketOpcode opcode, std::string_view payload,
                                 const std::optional<WebSocketMask>& mask);
// The payload of a close frame; a reason that is too long is truncated.
std::string FormatWebSocketClose(WebSocketClose code, std::string_view reason);
// The contents of a close frame: `1000`, `1011 out of descriptors`.
struct WebSocketCloseReason {
  uint16_t code = 1005;  // section 7.1.5: there was no code
  std::string text;
};
WebSocketCloseReason ParseWebSocketClose(std::string_view payload);

}  // namespace net
