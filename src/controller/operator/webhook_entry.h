// PyTorchJobs' entry of a ValidatingWebhookConfiguration. `muster install`'s has none: the operator
// puts it there once it serves, so that no job is refused for want of an operator that never was.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "controller/operator/webhook.h"
#include "text/json.h"

namespace controller {

// It is in the message of every refusal: that of Kubeflow's operator, which clients know.
inline constexpr std::string_view kWebhookName =
    "validator.pytorchjob.training-operator.kubeflow.org";

// A configuration that is muster's, even if somebody else installed it, and has no entry yet.
bool AwaitsEntry(const text::Json& configuration);

// The configuration with nothing but the entry, as a strategic merge patch: several replicas may
// send it. `bundle` is the authority in base64.
text::Json EntryPatch(const WebhookOptions& options, const std::string& bundle);

// What an entry at `index` of the configuration needs to become as `options` and `bundle` say, as a
// JSON patch; empty when nothing.
text::Array RepairOfEntry(const text::Json& entry, size_t index, const WebhookOptions& options,
                          const std::string& bundle);

}  // namespace controller
