// SPDY/3.1 as bytes: kubectl still uses it, inside a WebSocket, to forward ports (chromium.org,
// "SPDY Protocol - Draft 3.1"). Pure. Without flow control, which no client of Kubernetes uses.
//
//   control  |1| version 3 (15) | type (16) | flags (8) | length (24) | payload
//   data     |0| stream (31)                | flags (8) | length (24) | payload
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http/types.h"

struct z_stream_s;

namespace net {

inline constexpr size_t kMaxSpdyControlBytes = 16 << 10;
inline constexpr size_t kMaxSpdyHeaderBytes = 64 << 10;  // of one stream, uncompressed
inline constexpr size_t kSpdyFrameHeadBytes = 8;

struct SpdyEvent {
  enum class Kind {
    kOpen,   // a new stream, which must be answered
    kData,   // data of a stream
    kEnd,    // a stream sends no more data
    kReset,  // a stream is abandoned
    kPing,   // to be sent back
  };
  Kind kind = Kind::kOpen;
  uint32_t stream = 0;    // kPing: its number
  Headers headers{};      // kOpen; names in lower case
  std::string payload{};  // kData
};

// Parses a client's frames as their bytes arrive.
class SpdyParser {
 public:
  SpdyParser();
  ~SpdyParser();

  // Consumes all of `input` and appends the events. kInvalidArgument when malformed, kExhausted
  // over a limit; the parser is unusable then.
  base::Status Feed(std::string_view input, std::vector<SpdyEvent>& events);

 private:
  base::Status BeginFrame(std::vector<SpdyEvent>& events);
  base::Status EndFrame(std::vector<SpdyEvent>& events);
  base::Status EndControl(uint32_t type, uint32_t stream, std::vector<SpdyEvent>& events);
  base::Result<std::string> Unpack(std::string_view block);

  const std::unique_ptr<z_stream_s> inflate_;
  std::string head_;     // of the current frame, as far as it has arrived
  std::string control_;  // payload of the current control frame
  uint32_t left_ = 0;    // of its payload
  uint32_t last_stream_ = 0;
};

// Formats frames for either end. Not thread safe except for the static functions. Headers share a
// compressor: frames with headers must be sent in the order in which they were made.
class SpdyWriter {
 public:
  SpdyWriter();
  ~SpdyWriter();

  // Opens a client's stream.
  std::string Open(uint32_t stream, const Headers& headers, bool is_last);
  // Accepts a stream, as a server.
  std::string Reply(uint32_t stream);
  // At most 2^24 - 1 bytes.
  static std::string Data(uint32_t stream, std::string_view bytes, bool is_last);
  static std::string Reset(uint32_t stream);
  static std::string Ping(uint32_t number);

 private:
  const std::unique_ptr<z_stream_s> deflate_;
};

}  // namespace net
