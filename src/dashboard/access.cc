#include "dashboard/access.h"

#include <fmt/format.h>

#include "base/digest/hmac.h"
#include "base/strings.h"

namespace dashboard {
namespace {

using base::Code;
using base::Error;

constexpr std::string_view kOwnNames[] = {"127.0.0.1", "localhost"};

// The value of one cookie; "" if it was not sent.
std::string_view CookieOf(const net::HttpRequest& request, std::string_view name) {
  std::string_view cookies = net::FindHeader(request.headers, "Cookie");
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    const std::string_view pair = base::Trim(cookies.substr(0, end));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
    cookies = end == std::string_view::npos ? "" : cookies.substr(end + 1);
  }
  return "";
}

bool IsRead(const net::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

Access::Access(uint16_t port, Secrets secrets, Moment now)
    : port_(fmt::to_string(port)),
      cookie_name_(fmt::format("muster-dash-{}", port)),
      secrets_(std::move(secrets)),
      link_ends_(now + kLinkLifetime) {}

bool Access::HasSession(const net::HttpRequest& request) const {
  return base::SameDigest(base::ViewOf(base::Sha256(CookieOf(request, cookie_name_))),
                          base::ViewOf(base::Sha256(secrets_.session)));
}

std::optional<Error> Access::Check(const net::HttpRequest& request, Area area) const {
  const std::string_view host = net::FindHeader(request.headers, "Host");
  bool is_own_host = false;
  for (const std::string_view name : kOwnNames) {
    is_own_host = is_own_host || host == fmt::format("{}:{}", name, port_);
  }
  if (!is_own_host) {
    return Error{Code::kPermissionDenied,
                 fmt::format("Host \"{}\" is not this server's name: open http://127.0.0.1:{}/",
                             host, port_),
                 0};
  }
  const std::string_view origin = net::FindHeader(request.headers, "Origin");
  const std::string_view site = net::FindHeader(request.headers, "Sec-Fetch-Site");
  // Foreign links may open the page's files, which contain no data.
  const bool is_visit = area == Area::kAssets && IsRead(request) &&
                        net::FindHeader(request.headers, "Sec-Fetch-Mode") == "navigate";
  const bool is_own_origin = origin == fmt::format("http://{}", host);
  const bool is_foreign = (!origin.empty() && !is_own_origin) ||
                          (!site.empty() && site != "same-origin" && site != "none");
  if ((is_foreign && !is_visit) || (!IsRead(request) && !is_own_origin)) {
    return Error{Code::kPermissionDenied,
                 fmt::format("Origin \"{}\" is not this page's: only it may ask here", origin), 0};
  }
  if (area == Area::kData && !HasSession(request)) {
    return Error{Code::kUnauthenticated,
                 "this browser has not opened the link of `muster dash`: open the one that it "
                 "printed",
                 0};
  }
  return std::nullopt;
}

base::Result<std::string> Access::Redeem(std::string_view link, Moment now) {
  const bool is_it =
      base::SameDigest(base::ViewOf(base::Sha256(link)), base::ViewOf(base::Sha256(secrets_.link)));
  if (!is_it) {
    return base::Fail(
        Code::kPermissionDenied,
        "this link is not from the `muster dash` that is running now: open the one that it "
        "printed");
  }
  if (is_link_used_ || now >= link_ends_) {
    return base::Fail(Code::kPermissionDenied,
                      fmt::format("this link {}: run `muster dash` again, it prints a new one",
                                  is_link_used_ ? "was used" : "is too old"));
  }
  is_link_used_ = true;
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name_, secrets_.session);
}

}  // namespace dashboard
