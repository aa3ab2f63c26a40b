// Absolute http and https URLs. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace net {

struct Url {
  std::string scheme;  // "https", lower case
  std::string user_info;
  std::string host;   // no brackets around an IPv6 address
  uint16_t port = 0;  // the scheme's default if none was given
  std::string path;   // "" or "/..." without a slash at its end

  // "host:port", an IPv6 address in brackets
  std::string Authority() const;
};

// kInvalidArgument: `"localhost:6443" is not a URL: begin with https://`. No query, no fragment.
base::Result<Url> ParseUrl(std::string_view text);

bool IsWebUrl(std::string_view text);  // http:// or https://

// The path of a request's target as messages may show it: without the query, which may sign it, and
// without the secret of Oracle's pre-authenticated requests, /p/SECRET/n/NAMESPACE/...
std::string ShownTarget(std::string_view target);
// Likewise of a URL, also without user and password.
std::string ShownUrl(std::string_view url);

// Whether the URL itself names a port.
bool NamesPort(std::string_view url);

}  // namespace net
