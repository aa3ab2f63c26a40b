#include "net/http/failed_answer.h"

#include "base/strings.h"

namespace net {
namespace {

// How far into a page its title is looked for, and how much of it is shown.
constexpr size_t kPageHead = 64 << 10;
constexpr size_t kMaxTitle = 100;

bool IsWebPage(const Headers& headers, std::string_view body) {
  if (base::ToLower(FindHeader(headers, "Content-Type")).find("html") != std::string::npos) {
    return true;
  }
  const std::string start = base::ToLower(base::Trim(body.substr(0, 64)));
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

}  // namespace

base::Code CodeFromStatus(int http_status) {
  using base::Code;
  switch (http_status) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return Code::kInvalidArgument;
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kPermissionDenied;
    case 404:
      return Code::kNotFound;
    case 408:
    case 504:
      return Code::kTimeout;
    case 409:
    case 412:
      return Code::kConflict;
    case 410:
      return Code::kExpired;
    case 429:
    case 507:
      return Code::kExhausted;
    case 502:
    case 503:
      return Code::kUnavailable;
    default:
      return Code::kInternal;
  }
}

std::optional<std::string> TitleOfWebPage(const Headers& headers, std::string_view body) {
  if (!IsWebPage(headers, body)) return std::nullopt;
  const std::string page = base::ToLower(body.substr(0, kPageHead));
  const size_t tag = page.find("<title");
  const size_t begin = tag == std::string::npos ? tag : page.find('>', tag);
  const size_t end = begin == std::string::npos ? begin : page.find('<', begin);
  if (end == std::string::npos) return "";
  return base::OneLine(body.substr(begin + 1, end - begin - 1), kMaxTitle);
}

}  // namespace net
