#include <gtest/gtest.h>

#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

text::Json Web() {
  return *text::ParseJson(R"({"spec": {
    "selector": {"matchLabels": {"app": "web"}},
    "template": {"metadata": {"labels": {"app": "web", "more": "x"}},
                 "spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
}

Causes CausesWith(text::Path path, text::Json value) {
  text::Json deployment = Web();
  kDeploymentRules.set_defaults(deployment);
  text::Set(deployment, path, std::move(value));
  Causes causes;
  kDeploymentRules.check(deployment, causes);
  return causes;
}

TEST(DeploymentRules, DefaultsAreKubernetes) {
  text::Json deployment = Web();
  kDeploymentRules.set_defaults(deployment);
  EXPECT_EQ(text::GetInt(deployment, {"spec", "replicas"}), 1);
  EXPECT_EQ(text::GetString(deployment, {"spec", "template", "spec", "restartPolicy"}), "Always");
  Causes causes;
  kDeploymentRules.check(deployment, causes);
  EXPECT_EQ(causes, Causes());
  text::Json scaled = Web();
  text::Set(scaled, {"spec", "replicas"}, 0);
  kDeploymentRules.set_defaults(scaled);
  EXPECT_EQ(text::GetInt(scaled, {"spec", "replicas"}), 0);
}

TEST(DeploymentRules, RefuseWhatCannotWork) {
  EXPECT_EQ(CausesWith({"spec", "replicas"}, -1),
            Causes{"spec.replicas: Invalid value: must be greater than or equal to 0"});
  EXPECT_EQ(CausesWith({"spec", "selector"}, text::Object{}),
            Causes{"spec.selector: Required value"});
  EXPECT_EQ(CausesWith({"spec", "selector", "matchLabels", "app"}, "other"),
            Causes{"spec.template.metadata.labels: Invalid value: `selector` does not match "
                   "template `labels`"});
  EXPECT_EQ(CausesWith({"spec", "template", "spec", "containers"}, text::Array{}),
            Causes{"spec.template.spec.containers: Required value"});
  EXPECT_EQ(CausesWith({"spec", "template", "spec", "restartPolicy"}, "Never").size(), 1u);
}

}  // namespace
}  // namespace local::server
