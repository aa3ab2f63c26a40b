#include "controller/operator/webhook_entry.h"

#include <fmt/format.h>

#include "api/object.h"
#include "controller/operator/admission_review.h"

namespace controller {
namespace {

constexpr std::string_view kDefaultPolicy = "Fail";  // Kubeflow's
constexpr int kServicePort = 443;
constexpr int kTimeoutSeconds = 10;

}  // namespace

bool AwaitsEntry(const text::Json& configuration) {
  return FindPyTorchWebhook(configuration) == nullptr &&
         api::Label(configuration, "app.kubernetes.io/name") == "muster-operator";
}

text::Json EntryPatch(const WebhookOptions& options, const std::string& bundle) {
  const std::string_view policy =
      options.failure_policy.empty() ? kDefaultPolicy : std::string_view(options.failure_policy);
  text::Json entry = text::Object{
      {"name", kWebhookName},
      {"admissionReviewVersions", text::Array{"v1"}},
      {"clientConfig", text::Object{{"caBundle", bundle},
                                    {"service", text::Object{{"name", options.service_name},
                                                             {"namespace", options.namespace_name},
                                                             {"path", kAdmissionPath},
                                                             {"port", kServicePort}}}}},
      {"failurePolicy", policy},
      {"matchPolicy", "Equivalent"},
      {"sideEffects", "None"},
      {"timeoutSeconds", kTimeoutSeconds},
      {"rules", text::Array{text::Object{{"apiGroups", text::Array{"kubeflow.org"}},
                                         {"apiVersions", text::Array{"v1"}},
                                         {"operations", text::Array{"CREATE", "UPDATE"}},
                                         {"resources", text::Array{"pytorchjobs"}},
                                         {"scope", "Namespaced"}}}}};
  return text::Object{{"webhooks", text::Array{std::move(entry)}}};
}

text::Array RepairOfEntry(const text::Json& entry, size_t index, const WebhookOptions& options,
                          const std::string& bundle) {
  const std::string path = fmt::format("/webhooks/{}", index);
  text::Array repair;
  const auto add = [&](std::string_view field, std::string_view value) {
    repair.push_back(
        text::Object{{"op", "add"}, {"path", path + std::string(field)}, {"value", value}});
  };
  if (text::GetString(entry, {"clientConfig", "caBundle"}) != bundle) {
    add("/clientConfig/caBundle", bundle);
  }
  if (!options.failure_policy.empty() &&
      text::GetString(entry, {"failurePolicy"}) != options.failure_policy) {
    add("/failurePolicy", options.failure_policy);
  }
  if (repair.empty()) return repair;
  repair.insert(repair.begin(),
                text::Object{{"op", "test"}, {"path", path + "/name"}, {"value", kWebhookName}});
  return repair;
}

}  // namespace controller
