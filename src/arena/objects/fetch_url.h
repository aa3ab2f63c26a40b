// A file from the web.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

struct FetchLimits {
  size_t bytes;               // kExhausted for a longer answer
  std::chrono::seconds time;  // kTimeout after it; for all redirects together
};

// What a GET of `url` answers with, through the environment's proxy and after redirects. Blocks.
// Errors name the URL as net::ShownUrl does. kPermissionDenied is this function's own refusal: of a
// user and password in the URL, and of a redirect from https to http. kUnavailable when libcurl is
// missing.
base::Result<std::string> FetchUrl(const std::string& url, const base::Environment& environment,
                                   FetchLimits limits);

// Where a redirect from `url` leads: `location` as it stands, or beside the path it came from.
// Pure.
std::string RedirectTarget(const std::string& url, const std::string& location);

}  // namespace arena
