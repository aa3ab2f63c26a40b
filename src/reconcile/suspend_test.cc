#include "reconcile/suspend.h"

#include <gtest/gtest.h>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

const std::string kSuspendedLine = "Suspended=True PyTorchJobSuspended: PyTorchJob j is suspended.";
const std::string kResumedLine = "Suspended=False PyTorchJobResumed: PyTorchJob j is resumed.";
const std::string kStoppedLine = "Running=False PyTorchJobSuspended: PyTorchJob j is suspended.";

// E3, E4, J17, O9, golden `suspend`.
TEST(Suspend, FromCreationThroughTwoResumptions) {
  FakeCluster cluster(TestJob{.run_policy = R"({"suspend":true})"});
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kSuspendedLine}));
  EXPECT_FALSE(cluster.HasTime("startTime"));
  EXPECT_EQ(text::Find(cluster.job, {"status", "replicaStatuses"}), nullptr);
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_TRUE(cluster.services.empty());
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal PyTorchJobSuspended: PyTorchJob j is suspended."}));

  cluster.now += std::chrono::seconds(5);
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kResumedLine}));
  const Strings resumed = cluster.TakeEvents();
  EXPECT_EQ(resumed.front(), "Normal PyTorchJobResumed: PyTorchJob j is resumed.");
  EXPECT_EQ(resumed.size(), 7u);
  cluster.AllRunning();
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kResumedLine, kRunningLine}));
  const std::string start(text::GetString(cluster.job, {"status", "startTime"}));
  EXPECT_EQ(start, "2026-07-30T10:00:05Z");

  cluster.now += std::chrono::seconds(5);
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kStoppedLine, kSuspendedLine}));
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_TRUE(cluster.services.empty());
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s0 f0");
  EXPECT_EQ(text::GetString(cluster.job, {"status", "startTime"}), start);
  EXPECT_EQ(text::Find(cluster.job, {"status", "replicaStatuses"})->as_object().size(), 2u);

  cluster.now += std::chrono::seconds(5);
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kStoppedLine, kResumedLine}));
  EXPECT_EQ(text::GetString(cluster.job, {"status", "startTime"}), "2026-07-30T10:00:15Z");
  cluster.AllRunning();
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions(), (Strings{kCreatedLine, kResumedLine, kRunningLine}));
}

// Kueue gives the quota of a job away once nothing of it is active.
TEST(Suspend, PodsAreActiveUntilTheyAreDeleted) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Step();
  EXPECT_EQ(cluster.pods.size(), 3u);
  EXPECT_EQ(cluster.Counts("Worker"), "a2 s0 f0");
  cluster.Settle();
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s0 f0");
}

TEST(Suspend, PodsAreMadeFromTheTemplateAsItIsAtTheResumption) {
  FakeCluster cluster(TestJob{.run_policy = R"({"suspend":true})"});
  cluster.Settle();
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "nodeSelector"},
                   R"({"pool":"a"})");
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.Settle();
  EXPECT_EQ(*text::Find(cluster.pods.at("j-worker-0"), {"spec", "nodeSelector"}),
            Parse(R"({"pool":"a"})"));
}

TEST(Suspend, AServiceWithoutItsPodGoesToo) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.pods.clear();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_TRUE(cluster.services.empty());
}

TEST(Suspend, ARestartingJobNoLongerRestarts) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.Phase("j-worker-0", "Failed", 1);
  cluster.Step();
  EXPECT_EQ(cluster.Types(), "Created=True Restarting=True");
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Suspended=True");
}

// S1.
TEST(Suspend, OnlyWhenAsked) {
  for (const char* const run_policy : {"{}", R"({"suspend":null})", R"({"suspend":false})"}) {
    FakeCluster cluster(TestJob{.run_policy = run_policy});
    cluster.Settle();
    EXPECT_EQ(cluster.Types(), "Created=True") << run_policy;
    EXPECT_EQ(cluster.pods.size(), 3u);
  }
}

}  // namespace
}  // namespace reconcile
