// TLS on a ClientSocket, from the client's side. OpenSSL inside.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/socket/client_identity.h"
#include "net/socket/client_socket.h"
#include "net/socket/error_words.h"

namespace net {

struct TlsOptions {
  std::string server_name;    // in the certificate: a name or an address
  std::string ca_pem;         // trusted instead of the system's authorities; "" is the system's
  bool is_insecure = false;   // any certificate will do
  ClientIdentity identity{};  // "" is none
  bool is_http2 = false;      // the protocol to be spoken; else HTTP/1.1
};

// Of a connection that failed. `reason` says what libcurl would (curl_error.h).
using ExplainFailure = std::function<base::Error(const CurlFailure& reason)>;

// Greets the server over `socket`, by the protocol's name, and checks who it is. Blocks until then
// or the deadline; kCancelled once `cancel` (-1 is none) is readable, kNotFound where it does not
// speak HTTP/2 and is to. What goes wrong now or later is told in `explain`'s words.
base::Result<std::unique_ptr<ClientSocket>> StartTls(std::unique_ptr<ClientSocket> socket,
                                                     const TlsOptions& options,
                                                     SocketDeadline deadline,
                                                     ExplainFailure explain, int cancel = -1);

}  // namespace net
