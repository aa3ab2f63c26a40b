#include "cluster/kubeconfig/token.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/strings.h"
#include "text/json.h"

namespace cluster {

std::optional<base::Time> ExpiryOfToken(std::string_view token) {
  const size_t begin = token.find('.');
  const size_t end = begin == std::string_view::npos ? begin : token.find('.', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  // Base64url, without padding (RFC 7515, 2).
  std::string claims(token.substr(begin + 1, end - begin - 1));
  std::replace(claims.begin(), claims.end(), '-', '+');
  std::replace(claims.begin(), claims.end(), '_', '/');
  claims.append((4 - claims.size() % 4) % 4, '=');
  const auto decoded = base::Base64Decode(claims);
  if (!decoded) return std::nullopt;
  const auto json = text::ParseJson(*decoded);
  if (!json) return std::nullopt;
  const auto expiry = text::GetInt(*json, {"exp"});
  constexpr int64_t kLast = int64_t{1} << 38;  // of the year 10680
  if (!expiry || *expiry < 0 || *expiry > kLast) return std::nullopt;
  return base::Time(std::chrono::seconds(*expiry));
}

}  // namespace cluster
