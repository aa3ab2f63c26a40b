// Answers as every one of this server is: guarded against being framed, sniffed, kept or mixed with
// what is from elsewhere. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/http/types.h"
#include "text/json.h"

namespace dashboard {

// Of data: nobody may keep it.
net::Headers DataHeaders(std::string_view content_type);

net::HttpResponse JsonAnswer(const text::Json& json);
// {"error": MESSAGE, "code": NAME} with the status of its code.
net::HttpResponse ErrorAnswer(const base::Error& error);

// A part of the page, gzip'd; 304 where the browser has it (`etag`), 406 where it cannot read it.
net::HttpResponse AssetAnswer(const net::HttpRequest& request, std::string_view content_type,
                              std::string_view gzipped, std::string_view etag);

}  // namespace dashboard
