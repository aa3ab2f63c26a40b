#include <gtest/gtest.h>

#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

text::Json PodOf(std::string_view containers) {
  text::Json pod = text::Object{};
  text::Set(pod, {"spec", "containers"}, *text::ParseJson(containers));
  return pod;
}

std::string QosOf(std::string_view resources) {
  text::Json pod = PodOf(R"([{"name": "a", "resources": )" + std::string(resources) + "}]");
  kPodRules.begin(pod);
  return std::string(text::GetString(pod, {"status", "qosClass"}));
}

TEST(PodRules, DefaultsAreThoseThatClientsRelyOn) {
  text::Json pod = PodOf(R"([{"name": "a", "ports": [{"containerPort": 1},
      {"containerPort": 2, "protocol": "UDP"}], "livenessProbe": {"periodSeconds": 1}}])");
  kPodRules.set_defaults(pod);
  EXPECT_EQ(text::ToJson(*text::Find(pod, {"spec", "securityContext"})), "{}");
  const text::Json& container = (*text::FindArray(pod, {"spec", "containers"}))[0];
  EXPECT_EQ(text::ToJson(*text::Find(container, {"ports"})),
            R"([{"containerPort":1,"protocol":"TCP"},{"containerPort":2,"protocol":"UDP"}])");
  EXPECT_EQ(text::GetInt(container, {"livenessProbe", "periodSeconds"}), 1);
  EXPECT_EQ(text::GetInt(container, {"livenessProbe", "failureThreshold"}), 3);
}

TEST(PodRules, TheQosClassIsTheKubelets) {
  EXPECT_EQ(QosOf("{}"), "BestEffort");
  EXPECT_EQ(QosOf(R"({"limits": {"nvidia.com/gpu": "1"}})"), "BestEffort");
  EXPECT_EQ(QosOf(R"({"requests": {"cpu": "1"}})"), "Burstable");
  EXPECT_EQ(QosOf(R"({"limits": {"cpu": "1", "memory": "1Gi"}})"), "Guaranteed");
  EXPECT_EQ(QosOf(R"({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}})"),
            "Burstable");
}

// As in Kubernetes: a pod that is restarted although its author wrote `never` would do harm.
TEST(PodRules, ARestartPolicyIsOneOfThree) {
  text::Json pod = PodOf(R"([{"name": "a", "image": "i"}])");
  kPodRules.set_defaults(pod);
  const auto causes_of = [&pod](std::string_view policy) {
    text::Set(pod, {"spec", "restartPolicy"}, text::Json(policy));
    Causes causes;
    kPodRules.check(pod, causes);
    return causes;
  };
  for (const char* const policy : {"Always", "OnFailure", "Never"}) {
    EXPECT_EQ(causes_of(policy), Causes{});
  }
  EXPECT_EQ(causes_of("never"),
            Causes{"spec.restartPolicy: Unsupported value: \"never\": supported values: "
                   "\"Always\", \"OnFailure\", \"Never\""});
}

}  // namespace
}  // namespace local::server
