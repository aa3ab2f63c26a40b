#include "arena/objects/fetch_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/curl/client.h"
#include "net/curl/proxy.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;
using std::chrono::steady_clock;

constexpr int kMaxRedirects = 10;

size_t PathBegin(std::string_view url) { return url.find('/', url.find("://") + 3); }

// One GET of what stands before the fragment.
base::Result<net::HttpResponse> GetOnce(std::string url, const base::Environment& environment,
                                        size_t max_bytes, steady_clock::time_point deadline) {
  url.erase(std::min(url.find('#'), url.size()));
  const size_t head = std::min(url.find_first_of("/?", url.find("://") + 3), url.size());
  net::CurlClientOptions options;
  options.is_of_kubeconfig = false;
  options.max_response_bytes = max_bytes;
  TRY_ASSIGN(options.url, net::ParseUrl(url.substr(0, head)));
  if (!options.url.user_info.empty()) {
    return Fail(Code::kPermissionDenied, "the URL must not contain a user and password");
  }
  options.proxy = net::ProxyFor(options.url, environment);
  TRY_ASSIGN(const auto client, net::CurlClient::Create(std::move(options)));
  net::HttpRequest request;
  request.method = "GET";
  request.target = url.substr(head);
  if (!request.target.starts_with('/')) request.target.insert(0, "/");
  request.headers = {{"Accept", "*/*"}, {"User-Agent", "muster/" MUSTER_VERSION}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
  request.lifetime = std::max(left, std::chrono::milliseconds(1));
  return client->Send(request);
}

}  // namespace

std::string RedirectTarget(const std::string& url, const std::string& location) {
  // A path may have a URL in its query: "/login?next=https://host/x".
  if (location.find("://") < location.find_first_of("/?#")) return location;
  if (location.starts_with("//")) return url.substr(0, url.find(':') + 1) + location;
  const std::string path = url.substr(0, std::min(url.find_first_of("?#"), url.size()));
  const size_t begin = std::min(PathBegin(path), path.size());
  if (location.starts_with('/')) return path.substr(0, begin) + location;
  const size_t last = path.rfind('/');
  if (last < begin || begin == path.size()) return path + "/" + location;
  return path.substr(0, last + 1) + location;
}

base::Result<std::string> FetchUrl(const std::string& url, const base::Environment& environment,
                                   FetchLimits limits) {
  const steady_clock::time_point deadline = steady_clock::now() + limits.time;
  std::string at = url;
  for (int i = 0; i <= kMaxRedirects; ++i) {
    const std::string shown = net::ShownUrl(at);
    auto answer = GetOnce(at, environment, limits.bytes, deadline);
    if (!answer) return Fail(answer.error().Wrap(shown));
    if (answer->status >= 200 && answer->status < 300) return std::move(answer->body);
    const std::string location(net::FindHeader(answer->headers, "Location"));
    if (answer->status < 300 || answer->status >= 400 || location.empty()) {
      return Fail(Code::kUnavailable,
                  fmt::format("{}: the web server answers HTTP {}", shown, answer->status));
    }
    std::string next = RedirectTarget(at, location);
    if (!net::IsWebUrl(next) || (at.starts_with("https://") && !next.starts_with("https://"))) {
      return Fail(Code::kPermissionDenied,
                  fmt::format("{}: the web server redirects to {}, which is not safe to follow",
                              shown, net::ShownUrl(next)));
    }
    at = std::move(next);
  }
  return Fail(Code::kUnavailable,
              fmt::format("{}: more than {} redirects", net::ShownUrl(url), kMaxRedirects));
}

}  // namespace arena
