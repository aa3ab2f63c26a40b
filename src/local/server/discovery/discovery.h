// What clients request before objects: groups, versions, resources, health.
#pragma once

#include <optional>
#include <string_view>

#include "net/http/types.h"

namespace local::server {

// Nullopt for other paths. `accept` may ask for everything in one answer (aggregated discovery,
// apidiscovery.k8s.io/v2).
std::optional<net::HttpResponse> Discover(const net::Target& target, std::string_view accept);

}  // namespace local::server
