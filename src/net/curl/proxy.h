// Chooses the proxy from the environment by Go's rules (golang.org/x/net/http/httpproxy), so that
// muster takes the same way as kubectl. Pure.
#pragma once

#include <string>

#include "base/environment.h"
#include "net/socket/url.h"

namespace net {

// HTTPS_PROXY or HTTP_PROXY (or their lower-case names) by the scheme of `target`, unless NO_PROXY
// names its host or the host is this machine; "" for none.
std::string ProxyFor(const Url& target, const base::Environment& environment);

// `proxy` in the form that libcurl needs: libcurl has another default port, and would itself
// resolve names that kubectl leaves to a SOCKS proxy.
std::string ProxyForCurl(const std::string& proxy);

}  // namespace net
