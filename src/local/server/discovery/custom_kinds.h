// CustomResourceDefinitions of the kinds that are built in here, as if they had been installed.
// Clients (Arena, Helm) look for them to find out what a cluster can run, and scripts apply them
// before their jobs: a change to such a definition has no effect and is answered with a warning;
// the definition of any other kind is refused.
#pragma once

#include <optional>
#include <string_view>

#include "net/http/types.h"

namespace local::server {

inline constexpr std::string_view kDefinitionGroup = "apiextensions.k8s.io";
inline constexpr std::string_view kDefinitionVersion = "v1";
inline constexpr std::string_view kDefinitionPlural = "customresourcedefinitions";
inline constexpr std::string_view kDefinitionKind = "CustomResourceDefinition";

// The answer to a request for a definition; nullopt for other requests.
std::optional<net::HttpResponse> AnswerDefinitions(const net::Target& target,
                                                   std::string_view method, std::string_view body);

}  // namespace local::server
