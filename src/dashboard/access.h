// Who may ask the page's server: requests of this page alone, from a browser that came by the
// one-time link. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace dashboard {

// A link that nobody opens opens nothing any more after this.
inline constexpr std::chrono::minutes kLinkLifetime{10};

// Not thread safe: the server's thread asks. A page of elsewhere can send requests to this port by
// any name that it has given this machine (DNS rebinding), but it cannot choose Host and Origin;
// another user of this machine can send anything, but has neither the link nor the cookie.
class Access {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  struct Secrets {
    std::string link;     // in the link's fragment, good once
    std::string session;  // in the cookie
  };

  Access(uint16_t port, Secrets secrets, Moment now);

  // What the page is made of is nobody's secret and needs no cookie.
  enum class Area { kAssets, kData };
  // Nullopt: answer it. Else the refusal, whose code says which status it has.
  std::optional<base::Error> Check(const net::HttpRequest& request, Area area) const;

  // The value of Set-Cookie for who has the link. kPermissionDenied, saying why: it was used, is
  // too old, or another.
  base::Result<std::string> Redeem(std::string_view link, Moment now);

 private:
  bool HasSession(const net::HttpRequest& request) const;

  const std::string port_;
  const std::string cookie_name_;  // cookies are told apart by host, not by port
  const Secrets secrets_;
  const Moment link_ends_;
  bool is_link_used_ = false;
};

}  // namespace dashboard
