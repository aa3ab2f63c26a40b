// The identity of a compute instance, with which it requests a session token (Oracle's X.509
// federation, as its SDKs use it). Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ads/oci/private_key.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http/types.h"

namespace ads::oci {

struct InstanceIdentity {
  std::string tenancy;                     // OCID from the certificate's subject
  std::string fingerprint;                 // SHA-1 of the certificate: "AA:BB:..."
  std::string certificate;                 // DER in base64
  std::vector<std::string> intermediates;  // likewise
  std::shared_ptr<const PrivateKey> key;

  // Parses the PEM texts of the metadata service. kInvalidArgument says which part is malformed, or
  // that the certificate names no tenancy.
  static base::Result<InstanceIdentity> Read(std::string_view certificate_pem,
                                             const Secret& key_pem,
                                             std::string_view intermediate_pem);
};

// POST of `path`, signed with the instance's key: requests a token for `session_key`. `host` is not
// signed.
base::Result<net::HttpRequest> TokenRequest(const InstanceIdentity& identity,
                                            const PrivateKey& session_key, const std::string& path,
                                            const std::string& host, base::Time now);
// kUnavailable when the answer contains none.
base::Result<std::string> TokenOf(std::string_view answer);

}  // namespace ads::oci
