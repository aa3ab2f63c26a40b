#include "reconcile/abnormal_pods.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

FakeCluster Started() {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.TakeEvents();
  return cluster;
}

void SetStatus(FakeCluster& cluster, const std::string& pod, std::string_view json) {
  text::Set(cluster.pods.at(pod), {"status"}, Parse(json));
}

TEST(AbnormalPods, AWaitingContainerIsReportedOnce) {
  FakeCluster cluster = Started();
  SetStatus(cluster, "j-worker-0", R"({"phase":"Pending","containerStatuses":[
      {"name":"pytorch","state":{"waiting":{"reason":"ContainerCreating"}}}]})");
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
  SetStatus(cluster, "j-worker-0", R"({"phase":"Pending","containerStatuses":[
      {"name":"pytorch","state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]})");
  cluster.now += std::chrono::seconds(3);
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Warning ImagePullBackOff: Error pod j-worker-0 container pytorch waiting "
                     "message: no such image"}));
  cluster.now += std::chrono::minutes(3);
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
}

TEST(AbnormalPods, APodThatHadTooLittleMemorySaysSoBeforeItIsReplaced) {
  FakeCluster cluster(TestJob{.worker_policy = "ExitCode"});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.TakeEvents();
  SetStatus(cluster, "j-worker-0",
            R"({"phase":"Failed","containerStatuses":[{"name":"pytorch","state":{"terminated":{
                "exitCode":137,"reason":"OOMKilled","finishedAt":"2026-07-30T10:00:10Z"}}}]})");
  cluster.Settle();
  const Strings events = cluster.TakeEvents();
  EXPECT_EQ(std::count(events.begin(), events.end(),
                       "Warning OOMKilled: Error pod j-worker-0 container pytorch exitCode: 137 "
                       "terminated message: "),
            1);
}

TEST(AbnormalPods, EveryCrashIsReportedOnce) {
  FakeCluster cluster = Started();
  const auto crash = [&](std::string_view at) {
    SetStatus(cluster, "j-worker-0",
              R"({"phase":"Running","containerStatuses":[{"name":"pytorch","state":{"terminated":{
                  "exitCode":137,"reason":"OOMKilled","message":"m","finishedAt":")" +
                  std::string(at) + R"("}}}]})");
    cluster.now = *base::ParseRfc3339(at) + std::chrono::milliseconds(300);
    cluster.Settle();
  };
  const Strings expected = {
      "Normal ExitedWithCode: Pod: ns.j-worker-0 exited with code 137",
      "Warning OOMKilled: Error pod j-worker-0 container pytorch exitCode: 137 terminated "
      "message: m"};
  crash("2026-07-30T10:00:10Z");
  EXPECT_EQ(cluster.TakeEvents(), expected);
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
  crash("2026-07-30T10:00:40Z");
  EXPECT_EQ(cluster.TakeEvents(), expected);
}

TEST(AbnormalPods, CrashLoopsAreDatedByTheLastCrash) {
  FakeCluster cluster = Started();
  const auto back_off = [&](std::string_view at) {
    SetStatus(cluster, "j-worker-0",
              R"({"phase":"Running","containerStatuses":[{"name":"pytorch","state":{"waiting":{
                  "reason":"CrashLoopBackOff","message":"back-off"}},"lastState":{"terminated":{
                  "finishedAt":")" +
                  std::string(at) + R"("}}}]})");
    cluster.now = *base::ParseRfc3339(at) + std::chrono::seconds(1);
    cluster.Settle();
    return cluster.TakeEvents().size();
  };
  EXPECT_EQ(back_off("2026-07-30T10:01:00Z"), 1u);
  EXPECT_EQ(back_off("2026-07-30T10:01:00Z"), 0u);
  EXPECT_EQ(back_off("2026-07-30T10:02:00Z"), 1u);
}

TEST(AbnormalPods, AnUnschedulablePodIsReportedOnceByItsNewestCondition) {
  FakeCluster cluster = Started();
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","conditions":[
      {"type":"A","status":"True","lastTransitionTime":"2026-07-30T10:00:01Z"},
      {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes",
       "lastTransitionTime":"2026-07-30T10:00:02Z"}]})");
  cluster.now += std::chrono::seconds(5);
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Warning Unschedulable: Error pod j-worker-1 condition message: 0/1 nodes"}));
  EXPECT_EQ(text::GetString(cluster.job, {"status", "lastReconcileTime"}), "2026-07-30T10:00:05Z");
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"True","lastTransitionTime":"2026-07-30T10:00:09Z"},
      {"type":"Ready","status":"False","reason":"x","lastTransitionTime":"2026-07-30T10:00:08Z"}]})");
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
}

TEST(AbnormalPods, InitContainersSpeakWhileNoOtherHasAStatus) {
  FakeCluster cluster = Started();
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","containerStatuses":[],
      "initContainerStatuses":[{"name":"init-pytorch","state":{"terminated":{"exitCode":1,
      "reason":"Error","finishedAt":"2026-07-30T10:03:20Z"}}}]})");
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Warning Error: Error pod j-worker-1 container init-pytorch exitCode: 1 "
                     "terminated message: "}));
}

TEST(AbnormalPods, AClockAheadOfOursDoesNotRepeatThem) {
  FakeCluster cluster = Started();
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes",
       "lastTransitionTime":"2026-07-30T11:00:00.5Z"}]})");
  for (int i = 0; i < 4; ++i) {
    cluster.now += std::chrono::seconds(1);
    cluster.Settle();
  }
  EXPECT_EQ(cluster.TakeEvents().size(), 1u);
}

TEST(AbnormalPods, WithoutAnyDateTheyAreReportedOnceAJob) {
  FakeCluster cluster = Started();
  text::Erase(cluster.pods.at("j-worker-1"), {"metadata", "creationTimestamp"});
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","containerStatuses":[
      {"name":"pytorch","state":{"waiting":{"reason":"R","message":"m"}}}]})");
  cluster.Settle();
  cluster.now += std::chrono::seconds(9);
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents().size(), 1u);
}

// The scheduler's writes of one second may be seen one after another.
TEST(AbnormalPods, OfPodsInTroubleAtTheSameTimeEachIsReported) {
  FakeCluster cluster = Started();
  cluster.now = *base::ParseRfc3339("2026-07-30T10:00:05.2Z");
  for (const char* const pod : {"j-master-0", "j-worker-0", "j-worker-1"}) {
    SetStatus(cluster, pod, R"({"phase":"Pending","conditions":[
        {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes",
         "lastTransitionTime":"2026-07-30T10:00:05Z"}]})");
    cluster.Settle();
    EXPECT_EQ(cluster.TakeEvents(), Strings{std::string("Warning Unschedulable: Error pod ") + pod +
                                            " condition message: 0/1 nodes"});
  }
  cluster.announced.clear();
  cluster.now += std::chrono::minutes(1);
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty()) << "another operator, which has read the status";
}

TEST(AbnormalPods, EachReasonToWaitIsReportedThoughNothingDatesIt) {
  FakeCluster cluster = Started();
  for (const std::string reason : {"ErrImagePull", "ImagePullBackOff"}) {
    SetStatus(cluster, "j-worker-1",
              R"({"phase":"Pending","containerStatuses":[{"name":"pytorch","state":{"waiting":{
                  "message":"m","reason":")" +
                  reason + R"("}}}]})");
    cluster.now += std::chrono::seconds(3);
    cluster.Settle();
    EXPECT_EQ(cluster.TakeEvents(),
              Strings{"Warning " + reason +
                      ": Error pod j-worker-1 container pytorch waiting message: m"});
  }
  // The kubelet tries again, and waits again.
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","containerStatuses":[
      {"name":"pytorch","state":{"waiting":{"message":"m","reason":"ErrImagePull"}}}]})");
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
}

// As those of kube-scheduler, which count nodes.
TEST(AbnormalPods, AMessageThatIsRewordedIsNotAnotherTrouble) {
  FakeCluster cluster = Started();
  size_t events = 0;
  for (const std::string nodes : {"0/1", "0/2", "0/3"}) {
    SetStatus(cluster, "j-worker-1",
              R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
                  "reason":"Unschedulable","lastTransitionTime":"2026-07-30T10:00:05Z",
                  "message":")" +
                  nodes + R"( nodes are available"}]})");
    cluster.now += std::chrono::seconds(3);
    cluster.Settle();
    events += cluster.TakeEvents().size();
  }
  EXPECT_EQ(events, 1u);
}

TEST(AbnormalPods, EachContainerThatWaitsIsReported) {
  FakeCluster cluster = Started();
  SetStatus(cluster, "j-worker-1", R"({"phase":"Pending","containerStatuses":[
      {"name":"pytorch","state":{"waiting":{"reason":"ErrImagePull","message":"m"}}},
      {"name":"sidecar","state":{"waiting":{"reason":"ErrImagePull","message":"m"}}}]})");
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents().size(), 2u);
}

TEST(AbnormalPods, ThoseThatAreEndedOrGoingAreNotTroubles) {
  FakeCluster cluster = Started();
  const char* const status = R"({"phase":"Pending","containerStatuses":[
      {"name":"pytorch","state":{"waiting":{"reason":"R","message":"m"}}}]})";
  SetStatus(cluster, "j-worker-1", status);
  cluster.BeginDeletion("j-worker-1");
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
}

TEST(Exits, OfSucceededWorkersEachIsReportedOnce) {
  FakeCluster cluster(TestJob{.workers = 3});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.TakeEvents();
  const auto finish = [&](const std::string& pod, std::string_view at) {
    cluster.Phase(pod, "Succeeded", 0);
    text::Set(text::Find(cluster.pods.at(pod), {"status", "containerStatuses"})->at(0),
              {"state", "terminated", "finishedAt"}, text::Json(at));
    cluster.Settle();
  };
  finish("j-worker-1", "2026-07-30T10:05:00Z");
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal ExitedWithCode: Pod: ns.j-worker-1 exited with code 0"}));
  finish("j-worker-0", "2026-07-30T10:06:00Z");
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal ExitedWithCode: Pod: ns.j-worker-0 exited with code 0"}));
  cluster.Settle();
  EXPECT_TRUE(cluster.TakeEvents().empty());
}

}  // namespace
}  // namespace reconcile
