// What an answer that is not a success means, whoever gave it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace net {

// kInternal for a status that has no better one.
base::Code CodeFromStatus(int http_status);

// Of a web page, which a proxy or a login puts in an API's place: what it calls itself, "" where it
// does not. Nullopt when the body is no page.
std::optional<std::string> TitleOfWebPage(const Headers& headers, std::string_view body);

}  // namespace net
