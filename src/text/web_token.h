// The claims of a JSON Web Token.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace text {

// When a JSON Web Token expires (RFC 7519, 4.1.4), as those of service accounts, OIDC and Oracle's
// sessions do; nullopt for any other token. Nothing is verified.
std::optional<base::Time> ExpiryOfToken(std::string_view token);

}  // namespace text
