// What a bearer token says of itself.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace cluster {

// When a JSON Web Token (service accounts, OIDC) expires (RFC 7519, 4.1.4); nullopt for any other
// token. Nothing is verified: it is for messages.
std::optional<base::Time> ExpiryOfToken(std::string_view token);

}  // namespace cluster
