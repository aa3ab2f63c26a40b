// Which proxy the environment asks for, by Go's rules (golang.org/x/net/http/httpproxy), so that
// muster goes where kubectl goes. Pure.
#pragma once

#include <string>

#include "base/environment.h"
#include "net/socket/url.h"

namespace net {

// HTTPS_PROXY or HTTP_PROXY (or their lower-case names) by the scheme of `target`, unless NO_PROXY
// names its host; "" is none. Never for this machine's own addresses.
std::string ProxyFor(const Url& target, const base::Environment& environment);

// `proxy` in libcurl's words: it has another port in mind where none is named, and would look names
// up itself that kubectl leaves to a SOCKS proxy.
std::string ProxyForCurl(const std::string& proxy);

}  // namespace net
