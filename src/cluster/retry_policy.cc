#include "cluster/retry_policy.h"

#include <array>
#include <string_view>

#include "base/strings.h"

namespace cluster {
namespace {

struct Rule {
  int status;
  std::array<std::string_view, 3> methods;
};

// What may be sent twice without being done twice. An object's PUT carries the version it replaces.
constexpr std::array kRules = {
    Rule{429, {"GET", "PUT", "DELETE"}},
    Rule{503, {"GET", "PUT", "DELETE"}},
};

bool MayRetry(std::string_view method, int status) {
  for (const Rule& rule : kRules) {
    if (rule.status != status) continue;
    for (const std::string_view one : rule.methods) {
      if (one == method) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::chrono::seconds> RetryAfter(const net::HttpRequest& request, int status,
                                               const net::Headers& headers, int attempt) {
  if (attempt >= kMaxAttempts || !MayRetry(request.method, status)) return std::nullopt;
  // Servers that mean it say when (k8s.io/client-go does not retry without it either).
  const auto seconds = base::ParseInt(net::FindHeader(headers, "Retry-After"));
  if (!seconds || *seconds < 0 || *seconds > kLongestRetryAfter.count()) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace cluster
