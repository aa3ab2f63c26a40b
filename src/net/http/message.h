// HTTP/1.1 heads as bytes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "net/http/types.h"

namespace net {

// How the receiver recognizes the end of a body (RFC 9112 section 6).
enum class Framing {
  kNone,     // no body may follow: 1xx, 204, 304
  kLength,   // Content-Length
  kChunked,  // Transfer-Encoding: chunked
  kToClose,  // until the connection ends (HTTP/1.0)
  kUpgrade,  // not an HTTP body: another protocol follows (101)
};

// "Not Found"; "Unknown" for a status that RFC 9110 does not name.
std::string_view ReasonPhrase(int status);

// Both leave out the headers that framing sets itself (Content-Length, Transfer-Encoding,
// Connection), and headers whose name or value would end the head early.
std::string FormatResponseHead(int status, const Headers& headers, Framing framing,
                               size_t content_length, bool closes);
// The host is "localhost" unless `request` names one. An Upgrade header asks for the upgrade.
std::string FormatRequestHead(const HttpRequest& request);

// "1f4\r\n"
std::string FormatChunkHead(size_t size);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace net
