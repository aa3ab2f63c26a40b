#include "text/web_token.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/strings.h"
#include "text/json.h"

namespace text {

std::optional<base::Time> ExpiryOfToken(std::string_view token) {
  const std::vector<std::string> parts = base::Split(token, '.');
  if (parts.size() != 3) return std::nullopt;
  // Base64url, without padding (RFC 7515, 2).
  std::string claims = parts[1];
  std::replace(claims.begin(), claims.end(), '-', '+');
  std::replace(claims.begin(), claims.end(), '_', '/');
  claims.append((4 - claims.size() % 4) % 4, '=');
  const auto decoded = base::Base64Decode(claims);
  if (!decoded) return std::nullopt;
  const auto json = ParseJson(*decoded);
  if (!json) return std::nullopt;
  const auto expiry = GetInt(*json, {"exp"});
  constexpr int64_t kLatest = 253402300799;  // the end of the year 9999
  if (!expiry || *expiry < 0 || *expiry > kLatest) return std::nullopt;
  return base::Time(std::chrono::seconds(*expiry));
}

}  // namespace text
