#include "local/server/kinds/deployment_rules.h"

#include <gtest/gtest.h>

namespace local::server {
namespace {

text::Json Web() {
  return *text::ParseJson(R"({"spec": {
    "selector": {"matchLabels": {"app": "web"}},
    "template": {"metadata": {"labels": {"app": "web", "more": "x"}},
                 "spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
}

std::vector<std::string> Causes(text::Path path, text::Json value) {
  text::Json deployment = Web();
  SetDeploymentDefaults(deployment);
  text::Set(deployment, path, std::move(value));
  return DeploymentCauses(deployment);
}

TEST(DeploymentRules, DefaultsAreKubernetes) {
  text::Json deployment = Web();
  SetDeploymentDefaults(deployment);
  EXPECT_EQ(text::GetInt(deployment, {"spec", "replicas"}), 1);
  EXPECT_EQ(text::GetString(deployment, {"spec", "template", "spec", "restartPolicy"}), "Always");
  EXPECT_TRUE(DeploymentCauses(deployment).empty());
  text::Json scaled = Web();
  text::Set(scaled, {"spec", "replicas"}, 0);
  SetDeploymentDefaults(scaled);
  EXPECT_EQ(text::GetInt(scaled, {"spec", "replicas"}), 0);
}

TEST(DeploymentRules, RefuseWhatCannotWork) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Causes({"spec", "replicas"}, -1),
            Strings{"spec.replicas: Invalid value: must be greater than or equal to 0"});
  EXPECT_EQ(Causes({"spec", "selector"}, text::Object{}), Strings{"spec.selector: Required value"});
  EXPECT_EQ(Causes({"spec", "selector", "matchLabels", "app"}, "other"),
            Strings{"spec.template.metadata.labels: Invalid value: `selector` does not match "
                    "template `labels`"});
  EXPECT_EQ(Causes({"spec", "template", "spec", "containers"}, text::Array{}),
            Strings{"spec.template.spec.containers: Required value"});
  EXPECT_EQ(Causes({"spec", "template", "spec", "restartPolicy"}, "Never").size(), 1u);
}

}  // namespace
}  // namespace local::server
