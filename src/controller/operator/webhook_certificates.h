// The webhook's certificates as a Secret keeps them, shared by all replicas: what is to be renewed,
// and when. Pure but for the randomness of keys.
//
//   authorities  PEM, the one that signs first, then those before it that have not ended
//   serving      signed by one of the authorities
//
// Nothing that is trusted goes before what replaces it is trusted: a new authority is first put
// beside the old one and made known, and signs kAuthoritySpread later.
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
// Every API server has heard of a new authority by then.
inline constexpr std::chrono::minutes kAuthoritySpread{5};

struct WebhookCertificates {
  std::string authorities;        // "ca.crt"
  std::string authority_key;      // "ca.key", of the first; secret
  net::KeyedCertificate serving;  // "tls.crt", "tls.key"

  bool operator==(const WebhookCertificates& other) const {
    return authorities == other.authorities && authority_key == other.authority_key &&
           serving.certificate == other.serving.certificate && serving.key == other.serving.key;
  }
};

// Of the Secret's data; what is missing or is not base64 is "".
WebhookCertificates ReadWebhookCertificates(const text::Json& secret);
// The value of the Secret's `data`.
text::Json ToSecretData(const WebhookCertificates& certificates);

struct CertificatePlan {
  WebhookCertificates next;  // the same as before when nothing is due
  base::Time look_again;     // when something will be
};
// `hosts`: DNS names and addresses that the webhook is called under; not empty.
base::Result<CertificatePlan> PlanWebhookCertificates(const WebhookCertificates& stored,
                                                      const std::vector<std::string>& hosts,
                                                      base::Time now);

}  // namespace controller
