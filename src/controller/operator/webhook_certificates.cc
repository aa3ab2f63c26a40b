#include "controller/operator/webhook_certificates.h"

#include <algorithm>

#include "base/strings.h"

namespace controller {
namespace {

constexpr std::string_view kAuthorityName = "muster-operator-ca";

std::string Decoded(const text::Json& secret, std::string_view key) {
  const auto bytes = base::Base64Decode(text::GetString(secret, {"data", key}));
  return bytes ? *bytes : "";
}

// "IP:10.0.0.1", "DNS:operator.team.svc"
std::string SubjectName(const std::string& host) {
  const bool is_address = host.find(':') != std::string::npos ||
                          host.find_first_not_of("0123456789.") == std::string::npos;
  return (is_address ? "IP:" : "DNS:") + host;
}

base::Time EndOf(const std::string& certificate) {
  const auto end = net::CertificateEnd(certificate);
  return end ? *end : base::Time();
}

// Drops certificates that have expired or cannot be read.
std::vector<std::string> Living(const std::string& authorities, base::Time now) {
  std::vector<std::string> living = net::SplitCertificates(authorities);
  std::erase_if(living, [&](const std::string& one) { return EndOf(one) <= now; });
  return living;
}

// Whether clients that trust these authorities accept it now.
bool IsAccepted(const net::KeyedCertificate& serving, const std::vector<std::string>& authorities,
                const std::vector<std::string>& hosts, base::Time now) {
  return EndOf(serving.certificate) > now && net::IsKeyOf(serving.key, serving.certificate) &&
         std::all_of(
             hosts.begin(), hosts.end(),
             [&](const std::string& host) { return net::IsForHost(serving.certificate, host); }) &&
         std::any_of(authorities.begin(), authorities.end(), [&](const std::string& authority) {
           return net::IsIssuedBy(serving.certificate, authority);
         });
}

}  // namespace

WebhookCertificates ReadWebhookCertificates(const text::Json& secret) {
  return {Decoded(secret, "ca.crt"),
          Decoded(secret, "ca.key"),
          {Decoded(secret, "tls.crt"), Decoded(secret, "tls.key")}};
}

text::Json ToSecretData(const WebhookCertificates& certificates) {
  return text::Object{{"ca.crt", base::Base64Encode(certificates.authorities)},
                      {"ca.key", base::Base64Encode(certificates.authority_key)},
                      {"tls.crt", base::Base64Encode(certificates.serving.certificate)},
                      {"tls.key", base::Base64Encode(certificates.serving.key)}};
}

base::Result<CertificatePlan> PlanWebhookCertificates(const WebhookCertificates& stored,
                                                      const std::vector<std::string>& hosts,
                                                      base::Time now) {
  CertificatePlan plan{stored, {}};
  std::vector<std::string> authorities = Living(stored.authorities, now);
  const bool is_accepted = IsAccepted(stored.serving, authorities, hosts, now);
  const bool can_sign = !authorities.empty() &&
                        net::IsKeyOf(stored.authority_key, authorities.front()) &&
                        EndOf(authorities.front()) > now + kRenewWebhookAuthorityBefore;
  if (!can_sign) {
    TRY_ASSIGN(const auto made,
               net::MakeAuthority(std::string(kAuthorityName), now, kWebhookAuthorityValidity));
    authorities.insert(authorities.begin(), made.certificate);
    plan.next.authority_key = made.key;
  }
  plan.next.authorities = base::Join(authorities, "");
  const std::string& signer = authorities.front();
  TRY_ASSIGN(const base::Time signer_begin, net::CertificateBegin(signer));
  const base::Time signs_from = signer_begin + kAuthoritySpread;
  const bool is_due = !net::IsIssuedBy(stored.serving.certificate, signer) ||
                      EndOf(stored.serving.certificate) <= now + kRenewWebhookServingBefore;
  plan.look_again = EndOf(signer) - kRenewWebhookAuthorityBefore;
  if (is_accepted && is_due && now < signs_from) {
    plan.look_again = signs_from;
    return plan;
  }
  if (!is_accepted || is_due) {
    std::vector<std::string> names;
    for (const std::string& host : hosts) names.push_back(SubjectName(host));
    TRY_ASSIGN(plan.next.serving, net::IssueServerCertificate({signer, plan.next.authority_key},
                                                              names, now, kWebhookServingValidity));
  }
  plan.look_again =
      std::min(plan.look_again, EndOf(plan.next.serving.certificate) - kRenewWebhookServingBefore);
  return plan;
}

}  // namespace controller
