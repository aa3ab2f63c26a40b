// Reads a client certificate. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace cluster {

struct Certificate {
  std::string common_name;
  base::Time not_before;
  base::Time not_after;
};

// The first certificate of a PEM text. kInvalidArgument when there is none.
base::Result<Certificate> ReadCertificate(std::string_view pem);

// Whether the key belongs to the first certificate; false when either cannot be parsed. PEM.
bool AreOneIdentity(const std::string& cert_pem, const std::string& key_pem);

}  // namespace cluster
