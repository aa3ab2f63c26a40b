// X.509 certificates of our own: an authority that signs the certificate of a server on this
// machine. EC keys (P-256), PEM texts. OpenSSL inside.
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
// `names`: "IP:127.0.0.1", "DNS:localhost". kInvalidArgument when `authority` cannot be read.
base::Result<KeyedCertificate> IssueServerCertificate(const KeyedCertificate& authority,
                                                      const std::vector<std::string>& names,
                                                      base::Time now, std::chrono::hours validity);
// When the certificate ends. kInvalidArgument when it cannot be read.
base::Result<base::Time> CertificateEnd(std::string_view certificate);

// When it begins to be valid, without the hour that ours begin earlier for the sake of slow clocks.
base::Result<base::Time> CertificateBegin(std::string_view certificate);
// The certificates of a PEM text, in order; other text is left out.
std::vector<std::string> SplitCertificates(std::string_view pem);
// Whether `authority` signed it. False when either cannot be read.
bool IsIssuedBy(std::string_view certificate, std::string_view authority);
// Whether the private key is the certificate's. False when either cannot be read.
bool IsKeyOf(std::string_view key, std::string_view certificate);
// Whether it may be shown under this DNS name or IP address.
bool IsForHost(std::string_view certificate, const std::string& host);

// URL-safe text of `bytes` random bytes.
base::Result<std::string> RandomToken(size_t bytes);
// In a time that tells nothing of where they differ.
bool AreEqualSecrets(std::string_view a, std::string_view b);

}  // namespace net
