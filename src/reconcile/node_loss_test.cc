#include "reconcile/node_loss.h"

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

using std::chrono::seconds;

constexpr const char* kPatient = R"({"annotations": {"muster.dev/node-lost-seconds": "30"}})";

// A running job whose master is on node a and whose workers are on nodes b and c.
FakeCluster RunningOnNodes(const TestJob& built, Options options = {}) {
  FakeCluster cluster(built, std::move(options));
  cluster.is_graceful = true;
  cluster.Settle();
  const char* node = "a";
  for (auto& [name, pod] : cluster.pods) {
    text::Set(pod, {"spec", "nodeName"}, text::Json(node));
    node = *node == 'a' ? "b" : "c";
  }
  cluster.AllRunning();
  cluster.Settle();
  cluster.TakeEvents();
  return cluster;
}

TEST(NodeLoss, APodIsReplacedOnceItsNodeHasBeenGoneForSoLong) {
  FakeCluster cluster = RunningOnNodes({.metadata = kPatient});
  const std::string master = cluster.Uid("j-master-0"), worker = cluster.Uid("j-worker-0");
  cluster.lost_nodes["b"] = cluster.now;
  const Plan early = cluster.Step();
  EXPECT_TRUE(early.writes.empty());
  EXPECT_EQ(early.look_again, cluster.now + seconds(30));
  cluster.now += seconds(30);
  const Plan late = cluster.Step();
  ASSERT_EQ(late.writes.size(), 1U);
  EXPECT_TRUE(late.writes[0].is_forced);
  cluster.Settle();
  EXPECT_NE(cluster.Uid("j-worker-0"), worker);
  EXPECT_EQ(cluster.Uid("j-master-0"), master);
  const auto events = cluster.TakeEvents();
  EXPECT_EQ(std::count(events.begin(), events.end(),
                       "Warning NodeLost: Pod j-worker-0 is lost with its node b"),
            1);
}

TEST(NodeLoss, ADeletionThatNobodyCarriesOutIsForced) {
  FakeCluster cluster = RunningOnNodes({.metadata = kPatient});
  cluster.BeginDeletion("j-worker-1", 30);
  cluster.Step();
  EXPECT_TRUE(cluster.pods.contains("j-worker-1"));
  // Without reports about nodes, the pod itself shows it when its deletion is overdue.
  text::Set(cluster.pods.at("j-worker-1"), {"status", "reason"}, text::Json("NodeLost"));
  EXPECT_EQ(cluster.Step().look_again, cluster.now + seconds(30));
  cluster.now += seconds(30);
  cluster.Settle();
  EXPECT_EQ(text::Find(cluster.pods.at("j-worker-1"), {"metadata", "deletionTimestamp"}), nullptr);
}

TEST(NodeLoss, UnderNeverItFailsTheJobAndSaysWhy) {
  Options options;
  options.reports_first_failure = true;
  FakeCluster cluster = RunningOnNodes({.worker_policy = "Never", .metadata = kPatient}, options);
  cluster.lost_nodes["c"] = cluster.now - seconds(31);
  cluster.Settle();
  EXPECT_EQ(cluster.Conditions().back(),
            "Failed=True PyTorchJobFailed: PyTorchJob j is failed because 1 Worker replica(s) "
            "failed. pod j-worker-1 is lost with its node c");
}

TEST(NodeLoss, ANodeThatComesBackInTimeChangesNothing) {
  FakeCluster cluster = RunningOnNodes({.metadata = kPatient});
  cluster.lost_nodes["b"] = cluster.now;
  cluster.now += seconds(29);
  cluster.Settle();
  cluster.lost_nodes.clear();
  cluster.now += seconds(60);
  const Plan plan = cluster.Step();
  EXPECT_TRUE(plan.writes.empty());
  EXPECT_FALSE(plan.look_again);
}

TEST(NodeLoss, WithoutTheAnnotationNothingIsDone) {
  for (const char* metadata : {"{}", R"({"annotations": {"muster.dev/node-lost-seconds": "soon"}})",
                               R"({"annotations": {"muster.dev/node-lost-seconds": "-1"}})"}) {
    FakeCluster cluster = RunningOnNodes({.metadata = metadata});
    cluster.lost_nodes["b"] = cluster.now - seconds(1'000);
    EXPECT_TRUE(cluster.Step().writes.empty()) << metadata;
  }
}

TEST(NodeLoss, APodThatHasEndedIsNotLost) {
  FakeCluster cluster = RunningOnNodes({.metadata = kPatient});
  cluster.Phase("j-worker-0", "Succeeded", 0);
  cluster.lost_nodes["b"] = cluster.now - seconds(1'000);
  cluster.Settle();
  EXPECT_EQ(cluster.Counts("Worker"), "a1 s1 f0");
}

TEST(NodeLoss, ASuspendedJobLetsGoOfALostPod) {
  FakeCluster cluster = RunningOnNodes({.metadata = kPatient});
  cluster.lost_nodes["b"] = cluster.now - seconds(1'000);
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  cluster.FinishDeletions();
  EXPECT_TRUE(cluster.pods.empty());
}

}  // namespace
}  // namespace reconcile
