#include "net/websocket/spdy.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace net {
namespace {

enum Type : unsigned {
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kPing = 6,
  kHeaders = 8,
};

constexpr unsigned kSpdyVersion = 3;
constexpr unsigned char kControlBit = 0x80;
constexpr unsigned kFinFlag = 1;
constexpr uint32_t kStreamMask = 0x7fffffff;
constexpr uint32_t kProtocolErrorStatus = 1;
// The part of SYN_STREAM before its headers: stream, associated stream, priority, slot.
constexpr size_t kSynStreamHead = 10;
// HEADERS: the stream.
constexpr size_t kHeadersHead = 4;

auto Malformed(std::string_view what) {
  return base::Fail(base::Code::kInvalidArgument, fmt::format("malformed SPDY frame: {}", what));
}

uint32_t ReadNumber(std::string_view bytes, size_t at, size_t size) {
  uint32_t number = 0;
  for (size_t i = at; i < at + size; ++i) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

bool IsControl(std::string_view head) { return (static_cast<uint8_t>(head[0]) & kControlBit) != 0; }

void AppendNumber(std::string& to, uint32_t number, size_t size) {
  for (size_t i = size; i > 0; --i) to += static_cast<char>(number >> (8 * (i - 1)) & 0xff);
}

std::string FormatControl(Type type, unsigned flags, std::string_view payload) {
  std::string frame;
  AppendNumber(frame, static_cast<uint32_t>(kControlBit) << 8 | kSpdyVersion, 2);
  AppendNumber(frame, type, 2);
  AppendNumber(frame, flags, 1);
  AppendNumber(frame, static_cast<uint32_t>(payload.size()), 3);
  return frame.append(payload);
}

// The initial dictionary of both compressors (section 2.6.10.1): words with their lengths, then
// text without lengths.
const std::string& Dictionary() {
  static const std::string kDictionary = [] {
    constexpr std::string_view kWords[] = {"options",
                                           "head",
                                           "post",
                                           "put",
                                           "delete",
                                           "trace",
                                           "accept",
                                           "accept-charset",
                                           "accept-encoding",
                                           "accept-language",
                                           "accept-ranges",
                                           "age",
                                           "allow",
                                           "authorization",
                                           "cache-control",
                                           "connection",
                                           "content-base",
                                           "content-encoding",
                                           "content-language",
                                           "content-length",
                                           "content-location",
                                           "content-md5",
                                           "content-range",
                                           "content-type",
                                           "date",
                                           "etag",
                                           "expect",
                                           "expires",
                                           "from",
                                           "host",
                                           "if-match",
                                           "if-modified-since",
                                           "if-none-match",
                                           "if-range",
                                           "if-unmodified-since",
                                           "last-modified",
                                           "location",
                                           "max-forwards",
                                           "pragma",
                                           "proxy-authenticate",
                                           "proxy-authorization",
                                           "range",
                                           "referer",
                                           "retry-after",
                                           "server",
                                           "te",
                                           "trailer",
                                           "transfer-encoding",
                                           "upgrade",
                                           "user-agent",
                                           "vary",
                                           "via",
                                           "warning",
                                           "www-authenticate",
                                           "method",
                                           "get",
                                           "status",
                                           "200 OK",
                                           "version",
                                           "HTTP/1.1",
                                           "url",
                                           "public",
                                           "set-cookie",
                                           "keep-alive",
                                           "origin"};
    constexpr std::string_view kTail =
        "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
        "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
        "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
        "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
        "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
        "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
        "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";
    std::string text;
    for (const std::string_view word : kWords) {
      AppendNumber(text, static_cast<uint32_t>(word.size()), 4);
      text += word;
    }
    return text.append(kTail);
  }();
  return kDictionary;
}

const Bytef* ZlibBytes(std::string_view text) {
  return reinterpret_cast<const Bytef*>(text.data());  // NOLINT: zlib's own type
}

void SetInput(z_stream_s& stream, std::string_view input) {
  stream.next_in = const_cast<Bytef*>(ZlibBytes(input));  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(input.size());
}

// Room for the next output.
using Chunk = std::array<char, 1024>;

void SetOutput(z_stream_s& stream, Chunk& chunk) {
  stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
  stream.avail_out = static_cast<uInt>(chunk.size());
}

void BeginPacking(z_stream_s& stream) {
  ::deflateInit(&stream, Z_BEST_SPEED);
  ::deflateSetDictionary(&stream, ZlibBytes(Dictionary()), static_cast<uInt>(Dictionary().size()));
}

std::string Pack(z_stream_s& stream, std::string_view block) {
  std::string packed;
  Chunk chunk;
  SetInput(stream, block);
  do {
    SetOutput(stream, chunk);
    ::deflate(&stream, Z_SYNC_FLUSH);
    packed.append(chunk.data(), chunk.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  return packed;
}

base::Result<Headers> ParseHeaderBlock(std::string_view block) {
  size_t at = 0;
  const auto number = [&]() -> base::Result<uint32_t> {
    if (block.size() - at < 4) return Malformed("headers end too early");
    at += 4;
    return ReadNumber(block, at - 4, 4);
  };
  const auto text = [&]() -> base::Result<std::string> {
    TRY_ASSIGN(const uint32_t size, number());
    if (block.size() - at < size) return Malformed("headers end too early");
    at += size;
    return std::string(block.substr(at - size, size));
  };
  Headers headers;
  TRY_ASSIGN(const uint32_t count, number());
  for (uint32_t i = 0; i < count; ++i) {
    TRY_ASSIGN(std::string name, text());
    TRY_ASSIGN(std::string value, text());
    headers.emplace_back(std::move(name), std::move(value));
  }
  if (at != block.size()) return Malformed("more than its headers");
  return headers;
}

}  // namespace

SpdyParser::SpdyParser() : inflate_(std::make_unique<z_stream_s>()) {
  ::inflateInit(inflate_.get());
}

SpdyParser::~SpdyParser() { ::inflateEnd(inflate_.get()); }

base::Status SpdyParser::Feed(std::string_view input, std::vector<SpdyEvent>& events) {
  while (!input.empty()) {
    if (head_.size() < kSpdyFrameHeadBytes) {
      const size_t count = std::min(input.size(), kSpdyFrameHeadBytes - head_.size());
      head_ += input.substr(0, count);
      input.remove_prefix(count);
      if (head_.size() < kSpdyFrameHeadBytes) return {};
      TRY(BeginFrame(events));
      continue;
    }
    const size_t count = std::min<size_t>(input.size(), left_);
    left_ -= static_cast<uint32_t>(count);
    if (IsControl(head_)) {
      control_ += input.substr(0, count);
    } else {
      const uint32_t stream = ReadNumber(head_, 0, 4);
      events.push_back({SpdyEvent::Kind::kData, stream, {}, std::string(input.substr(0, count))});
    }
    input.remove_prefix(count);
    if (left_ > 0) return {};
    TRY(EndFrame(events));
  }
  return {};
}

base::Status SpdyParser::BeginFrame(std::vector<SpdyEvent>& events) {
  left_ = ReadNumber(head_, 5, 3);
  control_.clear();
  if (IsControl(head_)) {
    if ((ReadNumber(head_, 0, 2) & 0x7fff) != kSpdyVersion) return Malformed("not version 3");
    if (left_ > kMaxSpdyControlBytes) {
      return base::Fail(base::Code::kExhausted, "a SPDY control frame is too large");
    }
  }
  return left_ == 0 ? EndFrame(events) : base::Status();
}

base::Status SpdyParser::EndFrame(std::vector<SpdyEvent>& events) {
  const bool is_last = (static_cast<uint8_t>(head_[4]) & kFinFlag) != 0;
  uint32_t stream = ReadNumber(head_, 0, 4);
  if (IsControl(head_)) {
    const auto type = ReadNumber(head_, 2, 2);
    stream = control_.size() < 4 ? 0 : ReadNumber(control_, 0, 4) & kStreamMask;
    TRY(EndControl(type, stream, events));
    if (type != kSynStream && type != kHeaders) stream = 0;
  }
  if (is_last && stream != 0) events.push_back({SpdyEvent::Kind::kEnd, stream, {}, {}});
  head_.clear();
  return {};
}

base::Status SpdyParser::EndControl(uint32_t type, uint32_t stream,
                                    std::vector<SpdyEvent>& events) {
  switch (type) {
    case kSynStream: {
      if (control_.size() < kSynStreamHead) return Malformed("a short SYN_STREAM");
      if (stream % 2 == 0 || stream <= last_stream_) {
        return Malformed("a stream's number is out of turn");
      }
      last_stream_ = stream;
      TRY_ASSIGN(const std::string block,
                 Unpack(std::string_view(control_).substr(kSynStreamHead)));
      TRY_ASSIGN(Headers headers, ParseHeaderBlock(block));
      events.push_back({SpdyEvent::Kind::kOpen, stream, std::move(headers), {}});
      return {};
    }
    case kHeaders:
      if (control_.size() < kHeadersHead) return Malformed("a short HEADERS");
      // Unused, but the compression of the next block depends on them.
      TRY(Unpack(std::string_view(control_).substr(kHeadersHead)));
      return {};
    case kRstStream:
      if (control_.size() != 8) return Malformed("RST_STREAM is of 8 bytes");
      events.push_back({SpdyEvent::Kind::kReset, stream, {}, {}});
      return {};
    case kPing:
      if (control_.size() != 4) return Malformed("PING is of 4 bytes");
      events.push_back({SpdyEvent::Kind::kPing, ReadNumber(control_, 0, 4), {}, {}});
      return {};
    default:  // SETTINGS, GOAWAY, WINDOW_UPDATE, unknown frames
      return {};
  }
}

base::Result<std::string> SpdyParser::Unpack(std::string_view block) {
  std::string text;
  Chunk chunk;
  SetInput(*inflate_, block);
  while (true) {
    SetOutput(*inflate_, chunk);
    const int result = ::inflate(inflate_.get(), Z_SYNC_FLUSH);
    text.append(chunk.data(), chunk.size() - inflate_->avail_out);
    if (text.size() > kMaxSpdyHeaderBytes) {
      return base::Fail(base::Code::kExhausted, "a SPDY stream's headers are too large");
    }
    if (result == Z_NEED_DICT) {
      if (::inflateSetDictionary(inflate_.get(), ZlibBytes(Dictionary()),
                                 static_cast<uInt>(Dictionary().size())) != Z_OK) {
        return Malformed("headers are packed by another dictionary");
      }
      continue;
    }
    if (result != Z_OK && result != Z_BUF_ERROR) return Malformed("headers cannot be unpacked");
    if (inflate_->avail_out > 0) break;
  }
  if (inflate_->avail_in > 0) return Malformed("headers cannot be unpacked");
  return text;
}

SpdyWriter::SpdyWriter() : deflate_(std::make_unique<z_stream_s>()) { BeginPacking(*deflate_); }

SpdyWriter::~SpdyWriter() { ::deflateEnd(deflate_.get()); }

std::string SpdyWriter::Open(uint32_t stream, const Headers& headers, bool is_last) {
  std::string block;
  AppendNumber(block, static_cast<uint32_t>(headers.size()), 4);
  for (const auto& [name, value] : headers) {
    for (const std::string& text : {name, value}) {
      AppendNumber(block, static_cast<uint32_t>(text.size()), 4);
      block += text;
    }
  }
  std::string payload;
  AppendNumber(payload, stream, 4);
  payload.append(kSynStreamHead - 4, '\0');
  payload += Pack(*deflate_, block);
  return FormatControl(kSynStream, is_last ? kFinFlag : 0, payload);
}

std::string SpdyWriter::Reply(uint32_t stream) {
  std::string payload;
  AppendNumber(payload, stream, 4);
  payload += Pack(*deflate_, std::string(4, '\0'));  // no headers
  return FormatControl(kSynReply, 0, payload);
}

std::string SpdyWriter::Data(uint32_t stream, std::string_view bytes, bool is_last) {
  std::string frame;
  AppendNumber(frame, stream & kStreamMask, 4);
  AppendNumber(frame, is_last ? kFinFlag : 0, 1);
  AppendNumber(frame, static_cast<uint32_t>(bytes.size()), 3);
  return frame.append(bytes);
}

std::string SpdyWriter::Reset(uint32_t stream) {
  std::string payload;
  AppendNumber(payload, stream, 4);
  AppendNumber(payload, kProtocolErrorStatus, 4);
  return FormatControl(kRstStream, 0, payload);
}

std::string SpdyWriter::Ping(uint32_t number) {
  std::string payload;
  AppendNumber(payload, number, 4);
  return FormatControl(kPing, 0, payload);
}

}  // namespace net
