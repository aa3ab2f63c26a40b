// The way to a server: TCP, through a proxy where there is one, with TLS where its URL says https.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/socket/client_socket.h"
#include "net/socket/tls.h"
#include "net/socket/url.h"

namespace net {

struct Route {
  Url url;
  // "" is none; else http://, https:// (CONNECT, RFC 9110 section 9.3.6), socks5:// or socks5h://
  // (RFC 1928, RFC 1929), with user:password@ before the host where it asks for them.
  std::string proxy;
  TlsOptions tls;  // server_name: "" is the URL's host
};

// Connects; blocks until it stands or `timeout` is over, or `cancel` (-1 is none) is readable:
// kCancelled then. Errors as ErrorFromCurl's.
base::Result<std::unique_ptr<ClientSocket>> Connect(const Route& route,
                                                    std::chrono::milliseconds timeout,
                                                    int cancel = -1);

}  // namespace net
