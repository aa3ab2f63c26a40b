#include "local/server/kinds/deployment_rules.h"

#include <fmt/format.h>

namespace local::server {

namespace {

using text::GetInt;
using text::GetString;

constexpr int kRevisionHistory = 10;
constexpr int kProgressDeadlineSeconds = 600;

bool SelectsItsPods(const text::Object& labels, const text::Json& deployment) {
  for (const auto& [key, value] : labels) {
    if (!value.is_string() ||
        GetString(deployment, {"spec", "template", "metadata", "labels", key}) !=
            std::string_view(value.get_string())) {
      return false;
    }
  }
  return true;
}

}  // namespace

void SetDeploymentDefaults(text::Json& deployment) {
  text::SetDefault(deployment, {"spec", "replicas"}, 1);
  text::SetDefault(deployment, {"spec", "revisionHistoryLimit"}, kRevisionHistory);
  text::SetDefault(deployment, {"spec", "progressDeadlineSeconds"}, kProgressDeadlineSeconds);
  if (text::FindObject(deployment, {"spec", "template", "spec"}) != nullptr) {
    text::SetDefault(deployment, {"spec", "template", "spec", "restartPolicy"}, "Always");
  }
}

std::vector<std::string> DeploymentCauses(const text::Json& deployment) {
  std::vector<std::string> causes;
  if (GetInt(deployment, {"spec", "replicas"}).value_or(-1) < 0) {
    causes.emplace_back("spec.replicas: Invalid value: must be greater than or equal to 0");
  }
  const text::Object* labels = text::FindObject(deployment, {"spec", "selector", "matchLabels"});
  if (labels == nullptr || labels->empty()) {
    causes.emplace_back("spec.selector: Required value");
  } else if (!SelectsItsPods(*labels, deployment)) {
    causes.emplace_back(
        "spec.template.metadata.labels: Invalid value: `selector` does not match template "
        "`labels`");
  }
  const text::Array* containers =
      text::FindArray(deployment, {"spec", "template", "spec", "containers"});
  if (containers == nullptr || containers->empty()) {
    causes.emplace_back("spec.template.spec.containers: Required value");
  }
  const std::string_view policy =
      GetString(deployment, {"spec", "template", "spec", "restartPolicy"});
  if (!policy.empty() && policy != "Always") {
    causes.push_back(fmt::format(
        "spec.template.spec.restartPolicy: Unsupported value: \"{}\": supported values: \"Always\"",
        policy));
  }
  return causes;
}

}  // namespace local::server
