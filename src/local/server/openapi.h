// OpenAPI v3 as far as kubectl insists on it: before it creates or applies it asks whether the
// server knows the query parameters of a PATCH. No schemas: fields are not pruned.
#pragma once

#include <optional>

#include "net/http.h"

namespace local::server {

// /openapi/v3 and what it leads to; nothing for other paths.
std::optional<net::HttpResponse> DescribeOpenApi(const net::Target& target);

}  // namespace local::server
