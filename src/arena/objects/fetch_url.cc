#include "arena/objects/fetch_url.h"

#include <fmt/format.h>

#include <utility>

#include "net/curl/client.h"
#include "net/curl/proxy.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr int kMaxRedirects = 10;

size_t PathBegin(std::string_view url) { return url.find('/', url.find("://") + 3); }

// One GET of what stands before the fragment.
base::Result<net::HttpResponse> GetOnce(std::string url, const base::Environment& environment) {
  url.erase(std::min(url.find('#'), url.size()));
  const size_t head = std::min(url.find_first_of("/?", url.find("://") + 3), url.size());
  net::CurlClientOptions options;
  options.is_of_kubeconfig = false;
  TRY_ASSIGN(options.url, net::ParseUrl(url.substr(0, head)));
  if (!options.url.user_info.empty()) {
    return Fail(Code::kInvalidArgument,
                "the URL must not contain a user and password: fetch it with another program "
                "and pipe it to -f -");
  }
  options.proxy = net::ProxyFor(options.url, environment);
  TRY_ASSIGN(const auto client, net::CurlClient::Create(std::move(options)));
  net::HttpRequest request;
  request.method = "GET";
  request.target = url.substr(head);
  if (!request.target.starts_with('/')) request.target.insert(0, "/");
  request.headers = {{"Accept", "*/*"}, {"User-Agent", "muster/" MUSTER_VERSION}};
  return client->Send(request);
}

}  // namespace

bool IsUrl(std::string_view text) {
  return text.starts_with("http://") || text.starts_with("https://");
}

std::string RedirectTarget(const std::string& url, const std::string& location) {
  if (location.find("://") != std::string::npos) return location;
  if (location.starts_with("//")) return url.substr(0, url.find(':') + 1) + location;
  const std::string path = url.substr(0, std::min(url.find_first_of("?#"), url.size()));
  const size_t begin = std::min(PathBegin(path), path.size());
  if (location.starts_with('/')) return path.substr(0, begin) + location;
  const size_t last = path.rfind('/');
  if (last < begin || begin == path.size()) return path + "/" + location;
  return path.substr(0, last + 1) + location;
}

base::Result<std::string> FetchUrl(const std::string& url, const base::Environment& environment) {
  std::string at = url;
  for (int i = 0; i <= kMaxRedirects; ++i) {
    auto answer = GetOnce(at, environment);
    if (!answer) return Fail(answer.error().Wrap(at));
    if (answer->status >= 200 && answer->status < 300) return std::move(answer->body);
    const std::string location(net::FindHeader(answer->headers, "Location"));
    if (answer->status < 300 || answer->status >= 400 || location.empty()) {
      return Fail(Code::kUnavailable,
                  fmt::format("{}: the web server answers HTTP {}", at, answer->status));
    }
    std::string next = RedirectTarget(at, location);
    if (!IsUrl(next) || (at.starts_with("https://") && !next.starts_with("https://"))) {
      return Fail(
          Code::kPermissionDenied,
          fmt::format("{}: the web server redirects to {}, which is not safe to follow", at, next));
    }
    at = std::move(next);
  }
  return Fail(Code::kUnavailable, fmt::format("{}: more than {} redirects", url, kMaxRedirects));
}

}  // namespace arena
