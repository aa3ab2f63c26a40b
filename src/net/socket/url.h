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

// Whether the URL itself names a port.
bool NamesPort(std::string_view url);

}  // namespace net
