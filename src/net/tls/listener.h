// A TLS listener. What comes is decrypted here, on a thread of its own, and
// handed on as a local socket, so that the HTTP server behind it knows nothing of TLS.
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

// Who comes when there are so many takes the place of the one that has been there longest without
// an answer; he is closed at once when all have had one.
struct TlsLimits {
  size_t connections = 1024;  // fewer where few descriptors are allowed
  // Of one peer: a user of this machine other than the own one and root, or an address elsewhere.
  size_t per_peer = 128;
};
inline constexpr std::chrono::seconds kTlsHandshakeTimeout{10};

class TlsListener {
 public:
  // Both on the listener's thread. `identity` is asked for each connection, so that a certificate
  // can be renewed while it listens; it must be quick.
  using IdentitySource = std::function<base::Result<KeyedCertificate>()>;
  using Admit = std::function<void(base::Fd connection)>;

  // On an address of this machine alone. `host`: "127.0.0.1" or "::1". `port` 0 is any.
  // kAlreadyExists when the port is taken, kInvalidArgument when `host` is not a loopback address.
  static base::Result<std::unique_ptr<TlsListener>> Listen(const std::string& host, uint16_t port,
                                                           IdentitySource identity, Admit admit,
                                                           TlsLimits limits = {});
  // The same on a socket that listens already (ListenOnTcp), of whatever address.
  static base::Result<std::unique_ptr<TlsListener>> ListenOn(base::Fd socket,
                                                             IdentitySource identity, Admit admit,
                                                             TlsLimits limits = {});
  // Breaks its connections off.
  virtual ~TlsListener() = default;

  virtual uint16_t port() const = 0;
};

}  // namespace net
