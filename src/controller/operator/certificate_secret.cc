#include "controller/operator/certificate_secret.h"

#include <fmt/format.h>

#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"

namespace controller {

base::Result<text::Json> MakeCertificateSecret(cluster::Client& client, const SecretName& name) {
  text::Json secret = text::Object{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", text::Object{{"name", name.name}, {"namespace", name.namespace_name}}}};
  auto made = client.Create(api::kSecrets, name.namespace_name, secret);
  if (made) return made;
  return base::Fail(made.error().Wrap(
      fmt::format("Secret {}/{} is missing and cannot be created (`muster install` creates it)",
                  name.namespace_name, name.name)));
}

base::Result<text::Json> StoreCertificates(cluster::Client& client, const SecretName& name,
                                           const text::Json& secret, const text::Json& data) {
  text::Json patch = text::Object{{"data", data}};
  text::Set(patch, {"metadata", "resourceVersion"}, text::Json(api::ResourceVersion(secret)));
  auto stored = client.Patch(api::kSecrets, name.namespace_name, name.name,
                             cluster::PatchType::kMerge, patch);
  if (stored) return stored;
  return base::Fail(
      stored.error().Wrap(fmt::format("Secret {}/{}", name.namespace_name, name.name)));
}

base::Result<CertificatePlan> RenewCertificates(cluster::Client& client, const SecretName& name,
                                                const std::vector<std::string>& hosts,
                                                base::Time now) {
  for (bool is_again = false;; is_again = true) {
    auto secret = client.Get(api::kSecrets, name.namespace_name, name.name);
    if (!secret && secret.error().code == base::Code::kNotFound) {
      secret = MakeCertificateSecret(client, name);
    }
    if (!secret) return base::Fail(std::move(secret.error()));
    const WebhookCertificates stored = ReadWebhookCertificates(*secret);
    TRY_ASSIGN(CertificatePlan plan, PlanWebhookCertificates(stored, hosts, now));
    if (plan.next == stored) return plan;
    const auto renewed = StoreCertificates(client, name, *secret, ToSecretData(plan.next));
    if (renewed) {
      base::LogInfo("renewed the certificates in Secret {}/{}", name.namespace_name, name.name);
      return plan;
    }
    // Another replica was faster.
    if (is_again || renewed.error().code != base::Code::kConflict) {
      return base::Fail(renewed.error());
    }
  }
}

}  // namespace controller
