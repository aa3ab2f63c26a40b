// OpenAPI v3 and v2 of what is served, as kubectl reads them: the query parameters of a PATCH,
// which it asks for before it creates or applies; and the kinds' fields, which `kubectl explain`
// prints.
#pragma once

#include <optional>
#include <string_view>

#include "net/http/types.h"

namespace local::server {

// /openapi/v3 and what it leads to, and /openapi/v2; nullopt for other paths. 406 for clients that
// do not accept JSON.
std::optional<net::HttpResponse> DescribeOpenApi(const net::Target& target,
                                                 std::string_view accept);

}  // namespace local::server
