#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

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

void SetDeploymentDefaults(text::Json& deployment) {
  text::SetDefault(deployment, {"spec", "replicas"}, 1);
  text::SetDefault(deployment, {"spec", "revisionHistoryLimit"}, kRevisionHistory);
  text::SetDefault(deployment, {"spec", "progressDeadlineSeconds"}, kProgressDeadlineSeconds);
  text::SetDefault(deployment, {"spec", "strategy", "type"}, "RollingUpdate");
  if (text::FindObject(deployment, {"spec", "template", "spec"}) != nullptr) {
    text::SetDefault(deployment, {"spec", "template", "spec", "restartPolicy"}, "Always");
  }
}

void CheckDeployment(const text::Json& deployment, Causes& causes) {
  if (GetInt(deployment, {"spec", "replicas"}).value_or(-1) < 0) {
    causes.emplace_back("spec.replicas: Invalid value: must be greater than or equal to 0");
  }
  const text::Object& labels = text::Members(deployment, {"spec", "selector", "matchLabels"});
  if (labels.empty()) {
    causes.emplace_back("spec.selector: Required value");
  } else if (!SelectsItsPods(labels, deployment)) {
    causes.emplace_back(
        "spec.template.metadata.labels: Invalid value: `selector` does not match template "
        "`labels`");
  }
  if (text::Items(deployment, {"spec", "template", "spec", "containers"}).empty()) {
    causes.emplace_back("spec.template.spec.containers: Required value");
  }
  const std::string_view policy =
      GetString(deployment, {"spec", "template", "spec", "restartPolicy"});
  if (!policy.empty() && policy != "Always") {
    causes.push_back(fmt::format(
        "spec.template.spec.restartPolicy: Unsupported value: \"{}\": supported values: \"Always\"",
        policy));
  }
}

constexpr Column kDeploymentColumns[] = {{"Name", "string"},       {"Ready", "string"},
                                         {"Up-to-date", "string"}, {"Available", "string"},
                                         {"Age", "string"},        {"Containers", "string", 1},
                                         {"Images", "string", 1},  {"Selector", "string", 1}};

std::string MembersOfContainers(const text::Json& deployment, std::string_view member) {
  std::vector<std::string> found;
  for (const text::Json& container :
       text::Items(deployment, {"spec", "template", "spec", "containers"})) {
    found.emplace_back(GetString(container, {member}));
  }
  return base::Join(found, ",");
}

void DeploymentCells(const text::Json& deployment, base::Time now, Cells& cells) {
  const auto count = [&](std::string_view key) {
    return text::GetInt(deployment, {"status", key}).value_or(0);
  };
  cells.Text(api::Name(deployment));
  cells.Plain(fmt::format("{}/{}", count("readyReplicas"),
                          text::GetInt(deployment, {"spec", "replicas"}).value_or(1)));
  cells.Number(static_cast<double>(count("updatedReplicas")));
  cells.Number(static_cast<double>(count("availableReplicas")));
  cells.Text(Age(api::CreationTime(deployment), now));
  cells.Text(MembersOfContainers(deployment, "name"));
  cells.Text(MembersOfContainers(deployment, "image"));
  cells.Selector(text::Members(deployment, {"spec", "selector", "matchLabels"}));
}

}  // namespace

const KindRules kDeploymentRules{.short_name = "deploy",
                                 .is_in_all = true,
                                 .has_generation = true,
                                 .can_scale = true,
                                 .set_defaults = SetDeploymentDefaults,
                                 .check = CheckDeployment,
                                 .columns = kDeploymentColumns,
                                 .cells = DeploymentCells};

}  // namespace local::server
