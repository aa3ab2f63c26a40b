// Turns an answer that is not a success into an error. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace net {

// kInternal for a status that has no better one.
base::Code CodeFromStatus(int http_status);

// The title of a web page, which a proxy or a login may send in place of an API's answer; "" if it
// has none. Nullopt if the body is not a page.
std::optional<std::string> TitleOfWebPage(const Headers& headers, std::string_view body);

}  // namespace net
