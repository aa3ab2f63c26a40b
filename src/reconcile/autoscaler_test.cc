#include "reconcile/autoscaler.h"

#include <gtest/gtest.h>

#include "reconcile/json_compare.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

TestJob ElasticJob() {
  TestJob job{.has_master = false};
  job.spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":3,"metrics":[{"type":"Resource",
      "resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}})";
  return job;
}

// E6, O17.
TEST(Autoscaler, IsMadeAndFollowsTheJob) {
  FakeCluster cluster(ElasticJob());
  cluster.Settle();
  text::Json made = cluster.autoscalers.at("j");
  text::Erase(made, {"metadata", "uid"});
  text::Erase(made, {"metadata", "creationTimestamp"});
  EXPECT_EQ(made, Parse(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
      "metadata":{"name":"j","namespace":"ns","ownerReferences":[{
      "apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"j","uid":"uid-of-j",
      "controller":true,"blockOwnerDeletion":true}]},
      "spec":{"scaleTargetRef":{"kind":"PyTorchJob","name":"j","apiVersion":"kubeflow.org/v1"},
      "minReplicas":1,"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu",
      "target":{"type":"Utilization","averageUtilization":80}}}]}})"));
  text::Set(cluster.autoscalers.at("j"), {"metadata", "resourceVersion"}, text::Json("5"));
  text::Set(cluster.autoscalers.at("j"), {"spec", "behavior"}, Parse(R"({"scaleUp":{}})"));
  EXPECT_TRUE(cluster.Look().writes.empty());
  cluster.PatchJob({"spec", "elasticPolicy", "maxReplicas"}, "5");
  const Plan plan = cluster.Step();
  ASSERT_EQ(plan.writes.size(), 1u);
  EXPECT_EQ(text::GetString(plan.writes[0].object, {"metadata", "resourceVersion"}), "5");
  EXPECT_EQ(*text::GetInt(cluster.autoscalers.at("j"), {"spec", "maxReplicas"}), 5);
  EXPECT_NE(text::Find(cluster.autoscalers.at("j"), {"spec", "behavior"}), nullptr);
  EXPECT_TRUE(cluster.Look().writes.empty());
}

TEST(Autoscaler, GoesWhenTheJobIsDone) {
  FakeCluster cluster(ElasticJob());
  cluster.Settle();
  cluster.Phase("j-worker-1", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Succeeded=True");
  EXPECT_TRUE(cluster.autoscalers.empty());
}

// E7.
TEST(Autoscaler, GoesWithSuspensionAndComesBack) {
  FakeCluster cluster(ElasticJob());
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_TRUE(cluster.autoscalers.empty());
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.Settle();
  EXPECT_EQ(cluster.autoscalers.size(), 1u);
}

TEST(Autoscaler, GoesWithItsMetrics) {
  FakeCluster cluster(ElasticJob());
  cluster.Settle();
  text::Erase(cluster.job, {"spec", "elasticPolicy", "metrics"});
  cluster.Settle();
  EXPECT_TRUE(cluster.autoscalers.empty());
}

TEST(Autoscaler, SomebodyElsesIsLeftAlone) {
  FakeCluster cluster(ElasticJob());
  cluster.autoscalers["j"] = Parse(R"({"metadata":{"name":"j","uid":"x"},"spec":{}})");
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_EQ(cluster.autoscalers.size(), 1u);
}

TEST(JsonCompare, KnowsTheSpellingsOfOneValue) {
  const auto same = [](std::string_view a, std::string_view b) {
    const text::Json left = Parse(a);
    const text::Json right = Parse(b);
    EXPECT_EQ(IsSameValue(&left, &right), IsSameValue(&right, &left));
    return IsSameValue(&left, &right);
  };
  EXPECT_TRUE(same(R"({"a":1,"b":"0.5"})", R"({"b":"500m","a":"1"})"));
  EXPECT_TRUE(same(R"({"a":null,"b":{},"c":[]})", "{}"));
  EXPECT_TRUE(same("[1,2]", "[1,2]"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same("[1]", "[1,2]"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(same(R"("a")", R"("b")"));
  EXPECT_FALSE(same("true", "1"));
  EXPECT_FALSE(same("[1]", "1"));
  EXPECT_FALSE(same("false", "null"));
  const text::Json one(1);
  EXPECT_FALSE(IsSameValue(&one, nullptr));
  EXPECT_TRUE(IsSameValue(nullptr, nullptr));
}

}  // namespace
}  // namespace reconcile
