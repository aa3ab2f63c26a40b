// OpenAPI v3 and v2 of what is served, as far as kubectl needs them: the query parameters of PATCH,
// which it requests before it creates or applies, and the fields of the kinds, which `kubectl
// explain` prints.
#pragma once

#include <optional>
#include <string_view>

#include "net/http/types.h"

namespace local::server {

// Answers /openapi/v3, the paths that it refers to, and /openapi/v2; nullopt for other paths. 406
// for clients that do not accept JSON.
std::optional<net::HttpResponse> DescribeOpenApi(const net::Target& target,
                                                 std::string_view accept);

}  // namespace local::server
