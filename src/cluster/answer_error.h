// What an answer that is not a success means, in one line that says what to do. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace cluster {

// Of any answer whose status is not 2xx: the API server's, or that of a proxy before it.
base::Error ErrorFromAnswer(const net::HttpRequest& request, int status,
                            const net::Headers& headers, std::string_view body);

// A metav1.Status body to an Error: code by `reason` then by HTTP status; its message as it stands.
base::Error ErrorFromStatus(int http_status, std::string_view body);

// Of a success whose body is not JSON; `why` is the parser's word.
base::Error ErrorFromGarbage(const net::HttpRequest& request, const net::Headers& headers,
                             std::string_view body, std::string_view why);

}  // namespace cluster
