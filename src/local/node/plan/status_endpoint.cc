#include "local/node/plan/status_endpoint.h"

#include <fmt/format.h>

#include "base/digest/hmac.h"

namespace local::node {

std::string StatusToken(std::string_view key, std::string_view job_uid) {
  return fmt::format("{}.{}", job_uid, base::Hex(base::HmacSha256(key, job_uid)));
}

std::optional<std::string> JobOfStatusToken(std::string_view key, std::string_view token) {
  const std::string uid(token.substr(0, token.find('.')));
  if (key.empty() || !base::SameDigest(token, StatusToken(key, uid))) return std::nullopt;
  return uid;
}

}  // namespace local::node
