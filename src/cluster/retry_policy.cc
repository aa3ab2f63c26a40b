#include "cluster/retry_policy.h"

#include <string_view>

#include "base/strings.h"

namespace cluster {
namespace {

// Whether it may be sent twice without being carried out twice. An object's PUT names the version
// that it replaces.
bool MayRepeat(std::string_view method) {
  return method == "GET" || method == "PUT" || method == "DELETE";
}

}  // namespace

std::optional<std::chrono::seconds> RetryAfter(const net::HttpRequest& request, int status,
                                               const net::Headers& headers, int attempt) {
  if (attempt >= kMaxAttempts || (status != 429 && status != 503)) return std::nullopt;
  // A request that was answered with 429 was not carried out.
  if (status != 429 && !MayRepeat(request.method)) return std::nullopt;
  // Servers that want a retry say when (k8s.io/client-go does not retry otherwise either).
  const auto seconds = base::ParseInt(net::FindHeader(headers, "Retry-After"));
  if (!seconds || *seconds < 0 || *seconds > kLongestRetryAfter.count()) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace cluster
