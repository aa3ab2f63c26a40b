// SPDY/3.1 as bytes: kubectl still speaks it, inside a WebSocket, to forward ports (chromium.org,
// "SPDY Protocol - Draft 3.1"). Pure. There is no flow control: nobody who speaks it to Kubernetes
// has one.
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
inline constexpr size_t kMaxSpdyHeaderBytes = 64 << 10;  // of one stream, unpacked
inline constexpr size_t kSpdyFrameHeadBytes = 8;

struct SpdyEvent {
  enum class Kind {
    kOpen,   // of a new stream; an answer is due
    kData,   // some of what a stream says
    kEnd,    // a stream says no more
    kReset,  // a stream is given up
    kPing,   // to be sent back
  };
  Kind kind = Kind::kOpen;
  uint32_t stream = 0;    // kPing: its number
  Headers headers{};      // kOpen; names in lower case
  std::string payload{};  // kData
};

// Reads a client's frames from bytes as they come.
class SpdyParser {
 public:
  SpdyParser();
  ~SpdyParser();

  // Uses all of `input` and appends what it brings. kInvalidArgument when malformed, kExhausted
  // over a limit; no further use then.
  base::Status Feed(std::string_view input, std::vector<SpdyEvent>& events);

 private:
  base::Status BeginFrame(std::vector<SpdyEvent>& events);
  base::Status EndFrame(std::vector<SpdyEvent>& events);
  base::Status EndControl(uint32_t type, uint32_t stream, std::vector<SpdyEvent>& events);
  base::Result<std::string> Unpack(std::string_view block);

  const std::unique_ptr<z_stream_s> inflate_;
  std::string head_;     // of the frame in hand, as far as it has come
  std::string control_;  // its payload, when it is a control frame
  uint32_t left_ = 0;    // of its payload
  uint32_t last_stream_ = 0;
};

// What either end says. Not thread safe but for the static functions. Headers are packed together:
// frames that have some must be sent in the order they were made.
class SpdyWriter {
 public:
  SpdyWriter();
  ~SpdyWriter();

  // A client's new stream.
  std::string Open(uint32_t stream, const Headers& headers, bool is_last);
  // A server's acceptance of one.
  std::string Reply(uint32_t stream);
  // At most 2^24 - 1 bytes.
  static std::string Data(uint32_t stream, std::string_view bytes, bool is_last);
  static std::string Reset(uint32_t stream);
  static std::string Ping(uint32_t number);

 private:
  const std::unique_ptr<z_stream_s> deflate_;
};

}  // namespace net
