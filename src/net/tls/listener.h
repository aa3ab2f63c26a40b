// A TLS listener. It decrypts connections on a thread of its own and passes them on as local
// sockets, so that the HTTP server behind it needs no TLS.
//
//   peer ==TLS== TlsListener --socket pair-- HttpServer::Adopt
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "net/tls/certificate.h"

namespace net {

// When the limit is reached, a new connection replaces the oldest one that has had no answer; if
// all have had one, the new connection is closed at once.
struct TlsLimits {
  size_t connections = 1024;  // fewer when few descriptors are permitted
  // Of one peer: a user of this machine other than this user and root, or a remote address.
  size_t per_peer = 128;
};
inline constexpr std::chrono::seconds kTlsHandshakeTimeout{10};

class TlsListener {
 public:
  // Both run on the listener's thread. `identity` is called for each connection, so that a
  // certificate can be renewed while it listens; it must be quick.
  using IdentitySource = std::function<base::Result<KeyedCertificate>()>;
  using Admit = std::function<void(base::Fd connection)>;

  // On a loopback address. `host`: "127.0.0.1" or "::1". `port` 0: any. kAlreadyExists when the
  // port is taken, kInvalidArgument when `host` is not a loopback address.
  static base::Result<std::unique_ptr<TlsListener>> Listen(const std::string& host, uint16_t port,
                                                           IdentitySource identity, Admit admit,
                                                           TlsLimits limits = {});
  // The same on a listening socket (ListenOnTcp) with any address.
  static base::Result<std::unique_ptr<TlsListener>> ListenOn(base::Fd socket,
                                                             IdentitySource identity, Admit admit,
                                                             TlsLimits limits = {});
  // Closes its connections.
  virtual ~TlsListener() = default;

  virtual uint16_t port() const = 0;
};

}  // namespace net
