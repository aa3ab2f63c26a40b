// The entry for PyTorchJobs in a ValidatingWebhookConfiguration. The configuration that `muster
// install` creates has none: the operator adds it once it serves, so that no job is refused because
// an operator never started. Pure.
#pragma once

#include <string>
#include <string_view>

#include "controller/operator/webhook.h"
#include "text/json.h"

namespace controller {

// Part of the message of every refusal: the name that Kubeflow's operator uses, which clients know.
inline constexpr std::string_view kWebhookName =
    "validator.pytorchjob.training-operator.kubeflow.org";

// Whether it is muster's configuration, even if somebody else installed it, and has no entry yet.
bool AwaitsEntry(const text::Json& configuration);

// A strategic merge patch that adds the entry and nothing else, so that several replicas may send
// it. `bundle` is the authority in base64.
text::Json EntryPatch(const WebhookOptions& options, const std::string& bundle);

// A JSON patch that makes the entry at `index` agree with `options` and `bundle`; empty when it
// does.
text::Array RepairOfEntry(const text::Json& entry, size_t index, const WebhookOptions& options,
                          const std::string& bundle);

}  // namespace controller
