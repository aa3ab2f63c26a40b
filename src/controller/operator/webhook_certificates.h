// The webhook's certificates as stored in a Secret that all replicas share: what has to be renewed,
// and when. Pure, except for the randomness of keys.
//
//   authorities  PEM: first the one that signs, then earlier ones that have not expired
//   serving      signed by one of the authorities
//
// A trusted certificate is removed only after its successor is trusted: a new authority is first
// published beside the old one, and signs kAuthoritySpread later.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/tls/certificate.h"
#include "text/json.h"

namespace controller {

inline constexpr std::chrono::hours kWebhookAuthorityValidity{24 * 3650};
inline constexpr std::chrono::hours kRenewWebhookAuthorityBefore{24 * 365};
inline constexpr std::chrono::hours kWebhookServingValidity{24 * 365};
inline constexpr std::chrono::hours kRenewWebhookServingBefore{24 * 90};
// By then every API server has learnt of a new authority.
inline constexpr std::chrono::minutes kAuthoritySpread{5};

struct WebhookCertificates {
  std::string authorities;        // "ca.crt"
  std::string authority_key;      // "ca.key", of the first authority; secret
  net::KeyedCertificate serving;  // "tls.crt", "tls.key"

  bool operator==(const WebhookCertificates& other) const {
    return authorities == other.authorities && authority_key == other.authority_key &&
           serving.certificate == other.serving.certificate && serving.key == other.serving.key;
  }
};

// Reads the Secret's data; a value that is missing or not base64 is "".
WebhookCertificates ReadWebhookCertificates(const text::Json& secret);
// The value of the Secret's `data`.
text::Json ToSecretData(const WebhookCertificates& certificates);

struct CertificatePlan {
  WebhookCertificates next;  // unchanged when nothing is due
  base::Time look_again;     // when something will be due
};
// `hosts`: the DNS names and addresses by which the webhook is called; not empty.
base::Result<CertificatePlan> PlanWebhookCertificates(const WebhookCertificates& stored,
                                                      const std::vector<std::string>& hosts,
                                                      base::Time now);

}  // namespace controller
