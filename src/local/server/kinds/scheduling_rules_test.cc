#include "local/server/kinds/scheduling_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace local::server {
namespace {

text::Json PodWith(std::string_view spec) {
  text::Json pod = text::Object();
  text::Set(pod, {"spec"}, *text::ParseJson(spec));
  return pod;
}

Causes CausesOfToleration(const std::string& toleration) {
  Causes causes;
  CheckTolerations(PodWith(R"({"tolerations": [)" + toleration + "]}"), causes);
  return causes;
}

// tests/integration/test_same_api.py compares the words with those of a real API server.
TEST(SchedulingRules, TolerationsHaveOneOfTwoOperatorsAndOfThreeEffects) {
  EXPECT_EQ(CausesOfToleration(R"({"operator": "Exists"}, {"key": "a", "value": "b"},
      {"key": "a", "operator": "Equal", "effect": "NoExecute", "tolerationSeconds": 5})"),
            Causes{});
  EXPECT_EQ(CausesOfToleration(R"({"key": "a", "operator": "exists"})"),
            Causes{"spec.tolerations[0].operator: Unsupported value: \"exists\": supported "
                   "values: \"Equal\", \"Exists\""});
  EXPECT_EQ(CausesOfToleration(R"({"operator": "exists"})").size(), 2U) << "nor is there a key";
  EXPECT_EQ(CausesOfToleration(R"({"operator": "Exists", "effect": "noSchedule"})"),
            Causes{"spec.tolerations[0].effect: Unsupported value: \"noSchedule\": supported "
                   "values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""});
  EXPECT_EQ(CausesOfToleration(R"({"operator": "Exists", "tolerationSeconds": 5})"),
            Causes{"spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' "
                   "when `tolerationSeconds` is set"});
}

TEST(SchedulingRules, NodeAffinityHasKnownOperatorsWithTheirValues) {
  const auto causes_of = [](const std::string& expression) {
    Causes causes;
    CheckNodeAffinity(PodWith(R"({"affinity": {"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference":
            {"matchExpressions": [)" +
                              expression + "]}}]}}}"),
                      causes);
    return causes;
  };
  EXPECT_EQ(causes_of(R"({"key": "a", "operator": "In", "values": ["b"]},
      {"key": "a", "operator": "Exists"}, {"key": "a", "operator": "Gt", "values": ["1"]})"),
            Causes{});
  const std::string field =
      "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference."
      "matchExpressions[0]";
  EXPECT_EQ(causes_of(R"({"key": "a", "operator": "in", "values": ["b"]})"),
            Causes{field + ".operator: Invalid value: \"in\": not a valid selector operator"});
  EXPECT_EQ(causes_of(R"({"key": "a", "operator": "In"})").size(), 1U);
  EXPECT_EQ(causes_of(R"({"key": "a", "operator": "Exists", "values": ["b"]})").size(), 1U);
  EXPECT_EQ(causes_of(R"({"key": "a", "operator": "Lt", "values": ["1", "2"]})").size(), 1U);
}

TEST(SchedulingRules, TheDnsPolicyIsOneOfFour) {
  Causes causes;
  CheckDnsPolicy(PodWith(R"({"dnsPolicy": "ClusterFirst"})"), causes);
  EXPECT_EQ(causes, Causes{});
  CheckDnsPolicy(PodWith(R"({"dnsPolicy": "clusterFirst"})"), causes);
  EXPECT_EQ(causes.size(), 1U);
}

TEST(SchedulingRules, ArePartOfThePodsRules) {
  text::Json pod = PodWith(R"({"containers": [{"name": "a", "image": "i"}], "dnsPolicy": "x",
      "tolerations": [{"key": "a", "operator": "x"}], "affinity": {"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "a", "operator": "x"}]}]}}}})");
  kPodRules.set_defaults(pod);
  Causes causes;
  kPodRules.check(pod, causes);
  EXPECT_EQ(causes.size(), 3U);
}

}  // namespace
}  // namespace local::server
