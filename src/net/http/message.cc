#include "net/http/message.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace net {
namespace {

bool IsTokenChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsFieldValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

bool IsFraming(std::string_view name) {
  return base::EqualsIgnoreCase(name, "Content-Length") ||
         base::EqualsIgnoreCase(name, "Transfer-Encoding") ||
         base::EqualsIgnoreCase(name, "Connection");
}

void AppendHeaders(std::string& head, const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name.empty() || !std::all_of(name.begin(), name.end(), IsTokenChar)) continue;
    if (!IsFieldValue(value) || IsFraming(name)) continue;
    head.append(name).append(": ").append(value).append("\r\n");
  }
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

std::string FormatResponseHead(int status, const Headers& headers, Framing framing,
                               size_t content_length, bool closes) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, ReasonPhrase(status));
  AppendHeaders(head, headers);
  if (framing == Framing::kLength) head += fmt::format("Content-Length: {}\r\n", content_length);
  if (framing == Framing::kChunked) head += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::kUpgrade) head += "Connection: Upgrade\r\n";
  if (closes) head += "Connection: close\r\n";
  return head + "\r\n";
}

std::string FormatRequestHead(const HttpRequest& request) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  if (FindHeader(request.headers, "Host").empty()) head += "Host: localhost\r\n";
  AppendHeaders(head, request.headers);
  if (!FindHeader(request.headers, "Upgrade").empty()) head += "Connection: Upgrade\r\n";
  const bool usually_has_body =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (usually_has_body || !request.body.empty()) {
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  return head + "\r\n";
}

std::string FormatChunkHead(size_t size) { return fmt::format("{:x}\r\n", size); }

}  // namespace net
