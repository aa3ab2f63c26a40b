// Our own X.509 certificates: an authority that signs the certificate of a server on this machine.
// EC keys (P-256), PEM texts. Uses OpenSSL.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace net {

struct KeyedCertificate {
  std::string certificate;
  std::string key;  // secret
};

base::Result<KeyedCertificate> MakeAuthority(const std::string& common_name, base::Time now,
                                             std::chrono::hours validity);
// `names`: "IP:127.0.0.1", "DNS:localhost". kInvalidArgument when `authority` cannot be parsed.
base::Result<KeyedCertificate> IssueServerCertificate(const KeyedCertificate& authority,
                                                      const std::vector<std::string>& names,
                                                      base::Time now, std::chrono::hours validity);
// When the certificate expires. kInvalidArgument when it cannot be parsed.
base::Result<base::Time> CertificateEnd(std::string_view certificate);

// When it becomes valid, without the hour that ours start earlier to allow for slow clocks.
base::Result<base::Time> CertificateBegin(std::string_view certificate);
// The certificates in a PEM text, in order; other text is ignored.
std::vector<std::string> SplitCertificates(std::string_view pem);
// Whether `authority` signed it. False when either cannot be parsed.
bool IsIssuedBy(std::string_view certificate, std::string_view authority);
// Whether the private key belongs to the certificate. False when either cannot be parsed.
bool IsKeyOf(std::string_view key, std::string_view certificate);
// Whether the certificate is valid for this DNS name or IP address.
bool IsForHost(std::string_view certificate, const std::string& host);

// URL-safe text of `bytes` random bytes.
base::Result<std::string> RandomToken(size_t bytes);
// Compares in constant time.
bool AreEqualSecrets(std::string_view a, std::string_view b);

}  // namespace net
