// Decides which requests the page's server answers: only the page's own, from a browser that opened
// the one-time link. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/types.h"

namespace dashboard {

// An unused link expires after this.
inline constexpr std::chrono::minutes kLinkLifetime{10};

// For the server's thread only. A foreign page can send requests to this port under any name that
// resolves to this machine (DNS rebinding), but it cannot choose Host and Origin. Another user of
// this machine can send anything, but has neither the link nor the cookie.
class Access {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  struct Secrets {
    std::string link;     // in the link's fragment, valid once
    std::string session;  // in the cookie
  };

  Access(uint16_t port, Secrets secrets, Moment now);

  // For the page's files, which are not secret and need no cookie.
  enum class Area { kAssets, kData };
  // Nullopt to answer the request; else the refusal, whose code determines the status.
  std::optional<base::Error> Check(const net::HttpRequest& request, Area area) const;

  // The value of Set-Cookie for a browser with the link. kPermissionDenied says why not: the link
  // was used, is too old, or is wrong.
  base::Result<std::string> Redeem(std::string_view link, Moment now);

 private:
  bool HasSession(const net::HttpRequest& request) const;

  const std::string port_;
  const std::string cookie_name_;  // contains the port, because cookies are per host, not per port
  const Secrets secrets_;
  const Moment link_ends_;
  bool is_link_used_ = false;
};

}  // namespace dashboard
