// The certificates that TLS connections present and trust, as PEM.
#pragma once

#include <string>

namespace net {

// A client certificate and its key.
struct ClientIdentity {
  std::string cert_pem;  // "" for none
  std::string key_pem;   // secret

  bool operator==(const ClientIdentity&) const = default;
};

struct Security {
  ClientIdentity identity;
  std::string ca_pem;  // trusted authorities; "" for the system's

  bool operator==(const Security&) const = default;
};

}  // namespace net
