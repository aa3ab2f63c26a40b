#include "reconcile/wait_for.h"

#include <gtest/gtest.h>

#include "api/job/wait_for.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

using Outcome = Awaited::Outcome;

FakeCluster Waiting(std::vector<Awaited> awaited) {
  FakeCluster cluster(TestJob{.run_policy = R"({"suspend":true})"});
  text::Set(cluster.job, {"metadata", "resourceVersion"}, text::Json("7"));
  cluster.awaited = std::move(awaited);
  return cluster;
}

TEST(WaitFor, AJobIsSuspendedWhileAnotherIsOpen) {
  FakeCluster cluster = Waiting({{"a", Outcome::kSucceeded, ""}, {"b", Outcome::kOpen, ""}});
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Suspended=True");
  EXPECT_TRUE(cluster.pods.empty());
}

TEST(WaitFor, StartsWhenAllHaveSucceededUnlessItHasChangedMeanwhile) {
  FakeCluster cluster = Waiting({{"a", Outcome::kOpen, ""}});
  cluster.Settle();
  cluster.awaited = {{"a", Outcome::kSucceeded, ""}};
  const Plan plan = cluster.Look();
  ASSERT_EQ(plan.writes.size(), 1U);
  const Write& write = plan.writes.front();
  EXPECT_EQ(write.verb, Write::Verb::kPatch);
  EXPECT_EQ(write.resource, &api::kPyTorchJobs);
  EXPECT_EQ(text::GetBool(write.object, {"spec", "runPolicy", "suspend"}), false);
  EXPECT_EQ(text::GetString(write.object, {"metadata", "resourceVersion"}), "7");
  const text::Json* note =
      text::Find(write.object, {"metadata", "annotations", api::kWaitForAnnotation});
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->is_null());
  EXPECT_FALSE(plan.status);
}

TEST(WaitFor, FailsWithTheOneThatItWaitedFor) {
  for (const auto& [awaited, why] :
       {std::pair(Awaited{"a", Outcome::kFailed, "rank 0 exited with code 1"},
                  "Failed=True PyTorchJobFailed: job a, which this one waited for, has failed: "
                  "rank 0 exited with code 1"),
        std::pair(Awaited{"a", Outcome::kGone, ""},
                  "Failed=True PyTorchJobFailed: job a, which this one waited for, was "
                  "deleted")}) {
    FakeCluster cluster = Waiting({{"b", Outcome::kOpen, ""}, {"a", Outcome::kOpen, ""}});
    cluster.Settle();
    cluster.awaited[1] = awaited;
    cluster.Settle();
    EXPECT_EQ(cluster.Conditions().back(), why);
    EXPECT_TRUE(cluster.pods.empty());
    EXPECT_EQ(cluster.counters[Counter::kFailed], 1);
  }
}

}  // namespace
}  // namespace reconcile
