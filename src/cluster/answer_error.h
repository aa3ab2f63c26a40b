// Turns an answer that is not a success into one line that says what to do. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace cluster {

// For any answer whose status is not 2xx, from the API server or a proxy before it.
base::Error ErrorFromAnswer(const net::HttpRequest& request, int status,
                            const net::Headers& headers, std::string_view body);

// Converts a metav1.Status body: the code by its `reason`, else by the HTTP status; the message
// unchanged.
base::Error ErrorFromStatus(int http_status, std::string_view body);

// For a success whose body is not JSON; `why` is the parser's message.
base::Error ErrorFromGarbage(const net::HttpRequest& request, const net::Headers& headers,
                             std::string_view body, std::string_view why);

}  // namespace cluster
