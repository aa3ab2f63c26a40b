// A client certificate and its key, as PEM.
#pragma once

#include <string>

namespace net {

struct ClientIdentity {
  std::string cert_pem;  // "" is none
  std::string key_pem;   // secret
};

}  // namespace net
