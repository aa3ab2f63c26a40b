#include "net/websocket/frame.h"

#include <algorithm>

namespace net {
namespace {

constexpr unsigned char kFinal = 0x80;
constexpr unsigned char kReserved = 0x70;
constexpr unsigned char kOpcode = 0x0f;
constexpr unsigned char kMasked = 0x80;
constexpr unsigned char kShortLength = 0x7f;
constexpr unsigned char kLength16 = 126;
constexpr unsigned char kLength64 = 127;

auto Malformed(std::string what) {
  return base::Fail(base::Code::kInvalidArgument, "malformed WebSocket frame: " + what);
}

bool IsControl(WebSocketOpcode opcode) { return static_cast<uint8_t>(opcode) >= 8; }

// Sections 7.4.1 and 7.4.2: the codes permitted in a close frame.
bool IsCloseCode(unsigned code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

unsigned CloseCodeOf(std::string_view payload) {
  return static_cast<unsigned>(static_cast<unsigned char>(payload[0])) << 8 |
         static_cast<unsigned char>(payload[1]);
}

void AppendBigEndian(std::string& to, uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    to += static_cast<char>(value >> shift & 0xff);
  }
}

}  // namespace

// The size of the header, as far as the bytes read so far show it.
size_t WebSocketParser::HeaderSize() const {
  if (header_bytes_ < 2) return 2;
  const unsigned length = header_[1] & kShortLength;
  const size_t extended = length == kLength64 ? 8 : length == kLength16 ? 2 : 0;
  return 2 + extended + ((header_[1] & kMasked) != 0 ? mask_.size() : 0);
}

base::Status WebSocketParser::CheckOpcode(WebSocketOpcode opcode, bool is_final) const {
  switch (opcode) {
    case WebSocketOpcode::kContinuation:
      if (!message_) return Malformed("a continuation of nothing");
      return {};
    case WebSocketOpcode::kText:
    case WebSocketOpcode::kBinary:
      if (message_) return Malformed("a new message inside another");
      return {};
    case WebSocketOpcode::kClose:
    case WebSocketOpcode::kPing:
    case WebSocketOpcode::kPong:
      if (!is_final) return Malformed("a control frame in fragments");
      return {};
  }
  return Malformed("unknown opcode");
}

base::Status WebSocketParser::BeginFrame() {
  const bool is_masked = (header_[1] & kMasked) != 0;
  if ((header_[0] & kReserved) != 0) return Malformed("reserved bits are set");
  if (is_masked != (peer_ == Peer::kClient)) {
    return Malformed(is_masked ? "masked by a server" : "not masked by a client");
  }
  is_final_ = (header_[0] & kFinal) != 0;
  opcode_ = static_cast<WebSocketOpcode>(header_[0] & kOpcode);
  TRY(CheckOpcode(opcode_, is_final_));

  uint64_t length = header_[1] & kShortLength;
  size_t at = 2;
  const size_t extended = length == kLength64 ? 8 : length == kLength16 ? 2 : 0;
  if (extended > 0) {
    length = 0;
    for (size_t i = 0; i < extended; ++i) length = length << 8 | header_[at++];
    if (length <= (extended == 2 ? 125U : 0xffffU)) return Malformed("length not in short form");
  }
  if (IsControl(opcode_) && length > kMaxWebSocketControlBytes) {
    return Malformed("a control frame of more than 125 bytes");
  }
  if (length > kMaxWebSocketFrameBytes) {
    return base::Fail(base::Code::kExhausted, "WebSocket frame too large");
  }
  if (is_masked) std::copy_n(header_.begin() + static_cast<ptrdiff_t>(at), 4, mask_.begin());
  left_ = length;
  used_ = 0;
  control_.clear();
  if (opcode_ == WebSocketOpcode::kText || opcode_ == WebSocketOpcode::kBinary) {
    message_ = opcode_;
    is_message_begun_ = false;
  }
  return {};
}

base::Status WebSocketParser::Feed(std::string_view input, std::vector<WebSocketPiece>& pieces) {
  while (!is_closed_ && !input.empty()) {
    if (!is_in_payload_) {
      while (!input.empty() && header_bytes_ < HeaderSize()) {
        header_[header_bytes_++] = static_cast<unsigned char>(input.front());
        input.remove_prefix(1);
      }
      if (header_bytes_ < HeaderSize()) return {};
      TRY(BeginFrame());
      header_bytes_ = 0;
      is_in_payload_ = true;
    }
    const size_t count = static_cast<size_t>(std::min<uint64_t>(left_, input.size()));
    if (count == 0 && left_ > 0) return {};
    TRY(TakePayload(input.substr(0, count), pieces));
    input.remove_prefix(count);
    is_in_payload_ = left_ > 0;
  }
  return {};
}

base::Status WebSocketParser::TakePayload(std::string_view bytes,
                                          std::vector<WebSocketPiece>& pieces) {
  std::string payload(bytes);
  if (peer_ == Peer::kClient) {
    for (char& c : payload) {
      c = static_cast<char>(static_cast<unsigned char>(c) ^ mask_[used_++ & 3]);
    }
  }
  left_ -= bytes.size();
  if (IsControl(opcode_)) {
    control_ += payload;
    return left_ > 0 ? base::Status() : EndControl(pieces);
  }
  const bool ends = is_final_ && left_ == 0;
  // An empty fragment in the middle carries no information.
  if (!payload.empty() || !is_message_begun_ || ends) {
    pieces.push_back({*message_, !is_message_begun_, ends, std::move(payload)});
    is_message_begun_ = true;
  }
  if (ends) message_.reset();
  return {};
}

base::Status WebSocketParser::EndControl(std::vector<WebSocketPiece>& pieces) {
  if (opcode_ == WebSocketOpcode::kClose) {
    if (control_.size() == 1) return Malformed("half a close code");
    if (control_.size() >= 2 && !IsCloseCode(CloseCodeOf(control_))) {
      return Malformed("a close code that nobody may send");
    }
    is_closed_ = true;
  }
  pieces.push_back({opcode_, true, true, control_});
  return {};
}

std::string FormatWebSocketFrame(WebSocketOpcode opcode, std::string_view payload,
                                 const std::optional<WebSocketMask>& mask) {
  constexpr size_t kMaxHeader = 14;
  std::string frame;
  frame.reserve(payload.size() + kMaxHeader);
  frame += static_cast<char>(kFinal | static_cast<unsigned char>(opcode));
  const unsigned masked = mask ? kMasked : 0U;
  if (payload.size() < kLength16) {
    frame += static_cast<char>(masked | payload.size());
  } else if (payload.size() <= 0xffff) {
    frame += static_cast<char>(masked | kLength16);
    AppendBigEndian(frame, payload.size(), 2);
  } else {
    frame += static_cast<char>(masked | kLength64);
    AppendBigEndian(frame, payload.size(), 8);
  }
  if (!mask) return frame.append(payload);
  frame.append(mask->begin(), mask->end());
  for (size_t i = 0; i < payload.size(); ++i) {
    frame += static_cast<char>(static_cast<unsigned char>(payload[i]) ^ (*mask)[i & 3]);
  }
  return frame;
}

std::string FormatWebSocketClose(WebSocketClose code, std::string_view reason) {
  std::string payload;
  AppendBigEndian(payload, static_cast<uint16_t>(code), 2);
  size_t size = std::min(reason.size(), kMaxWebSocketControlBytes - payload.size());
  // Not within a character, because the reason is UTF-8.
  while (size > 0 && size < reason.size() && (reason[size] & 0xc0) == 0x80) --size;
  return payload.append(reason.substr(0, size));
}

WebSocketCloseReason ParseWebSocketClose(std::string_view payload) {
  if (payload.size() < 2) return {};
  return {static_cast<uint16_t>(CloseCodeOf(payload)), std::string(payload.substr(2))};
}

}  // namespace net
