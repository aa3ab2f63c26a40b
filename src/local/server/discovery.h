// What clients ask before they ask for objects: groups, versions, resources, health.
#pragma once

#include <optional>

#include "net/http.h"

namespace local::server {

// Nothing when the path is none of these.
std::optional<net::HttpResponse> Discover(const net::Target& target);

}  // namespace local::server
