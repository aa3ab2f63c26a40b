// The server's answers, with headers against framing, sniffing, caching and foreign content. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "dashboard/assets.h"
#include "net/http/types.h"
#include "text/json.h"

namespace dashboard {

// An answer with data, which must not be cached.
net::Headers DataHeaders(std::string_view content_type);

net::HttpResponse JsonAnswer(const text::Json& json);
// {"error": MESSAGE, "code": NAME} with the status for its code.
net::HttpResponse ErrorAnswer(const base::Error& error);

// A file of the page, gzip'd; 304 if the browser has it, 406 if it cannot read gzip.
net::HttpResponse AssetAnswer(const net::HttpRequest& request, const Asset& asset);

}  // namespace dashboard
