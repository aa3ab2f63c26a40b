// A Secret that keeps certificates of the operator, shared by all of its replicas.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/client.h"
#include "controller/operator/webhook_certificates.h"
#include "text/json.h"

namespace controller {

struct SecretName {
  std::string namespace_name;
  std::string name;
};

// Creates it, empty.
base::Result<text::Json> MakeCertificateSecret(cluster::Client& client, const SecretName& name);
// Replaces its data; kConflict when it has changed since `secret` was read.
base::Result<text::Json> StoreCertificates(cluster::Client& client, const SecretName& name,
                                           const text::Json& secret, const text::Json& data);
// Reads the Secret, or makes it, and renews in it what is due. `hosts` as for
// PlanWebhookCertificates.
base::Result<CertificatePlan> RenewCertificates(cluster::Client& client, const SecretName& name,
                                                const std::vector<std::string>& hosts,
                                                base::Time now);

}  // namespace controller
