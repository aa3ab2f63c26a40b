#include "reconcile/limits/limits.h"

#include <gtest/gtest.h>

#include "reconcile/limits/deadline.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

constexpr const char* kBackoffMessage =
    "Job j has failed because it has reached the specified backoff limit";
constexpr const char* kDeadlineMessage =
    "Job j has failed because it was active longer than specified deadline";

struct Restarts {
  int limit;
  int first;
  int second;
  bool is_exceeded;
};

// B1, B2, golden `restart_count_backoff`: the sum over the whole job counts, and reaching the limit
// is too much already.
TEST(BackoffLimit, CountsRestartsInPlace) {
  const Restarts cases[] = {{3, 1, 1, false}, {3, 1, 2, true},  {3, 3, 0, true},
                            {0, 0, 0, false}, {0, 1, 0, true},  {1, 1, 0, true},
                            {1, 0, 0, false}, {9, 4, 4, false}, {-1, 0, 0, true}};
  for (const Restarts& test : cases) {
    SCOPED_TRACE(std::to_string(test.limit) + ": " + std::to_string(test.first) + " " +
                 std::to_string(test.second));
    TestJob job;
    FakeCluster cluster(job);
    cluster.Settle();
    text::Set(cluster.job, {"spec", "runPolicy", "backoffLimit"}, test.limit);
    cluster.Phase("j-master-0", "Running");
    cluster.Phase("j-worker-0", "Running", -1, test.first);
    cluster.Phase("j-worker-1", "Running", -1, test.second);
    cluster.Settle();
    EXPECT_EQ(cluster.Types().find("Failed=True") != std::string::npos, test.is_exceeded);
    EXPECT_EQ(cluster.pods.empty(), test.is_exceeded);
    EXPECT_EQ(cluster.services.empty(), test.is_exceeded);
    if (test.is_exceeded) {
      EXPECT_TRUE(cluster.Conditions().back().ends_with(kBackoffMessage));
      EXPECT_TRUE(cluster.HasTime("completionTime"));
      EXPECT_EQ(cluster.counters[Counter::kFailed], 1);
    }
  }
}

// J6.
TEST(BackoffLimit, AllGoesWhateverCleanPodPolicySays) {
  FakeCluster cluster(TestJob{.has_master = false,
                              .workers = 4,
                              .run_policy = R"({"backoffLimit":4,"cleanPodPolicy":"None"})"});
  cluster.Settle();
  for (int i = 0; i < 4; ++i) {
    cluster.Phase("j-worker-" + std::to_string(i), "Running", -1, i < 3 ? 1 : 0);
  }
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 4u);
  EXPECT_EQ(cluster.Counts("Worker"), "a4 s0 f0");
  cluster.Phase("j-worker-3", "Running", -1, 1);
  cluster.Settle();
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_TRUE(cluster.services.empty());
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s0 f0") << "none of them runs any more";
}

// The job does not wait for the restart that would exceed the limit.
TEST(BackoffLimit, CountsTheRestartThatAContainerWaitsFor) {
  for (const int restarts : {1, 2}) {
    FakeCluster cluster(TestJob{.run_policy = R"({"backoffLimit":3})"});
    cluster.Settle();
    cluster.Phase("j-worker-0", "Running", -1, restarts);
    text::Json& status = text::Ensure(cluster.pods.at("j-worker-0"), {"status"});
    text::Ensure(status, {"containerStatuses"}).as_array()[0].as_object()["state"] =
        Parse(R"({"waiting":{"reason":"CrashLoopBackOff"}})");
    cluster.Settle();
    EXPECT_EQ(cluster.Types().find("Failed=True") != std::string::npos, restarts == 2) << restarts;
  }
}

TEST(BackoffLimit, OfZeroRestartsNothing) {
  FakeCluster cluster(TestJob{.master_policy = "Always", .run_policy = R"({"backoffLimit":0})"});
  cluster.Settle();
  EXPECT_EQ(text::GetString(cluster.pods.at("j-worker-0"), {"spec", "restartPolicy"}), "Never");
  EXPECT_EQ(text::GetString(cluster.pods.at("j-master-0"), {"spec", "restartPolicy"}), "Always")
      << "it asks for restarts after success as well";
  // Otherwise its init step would be restarted until the master is there.
  const std::string worker = text::ToJson(cluster.pods.at("j-worker-0"));
  EXPECT_NE(worker.find("seq 43200"), std::string::npos) << worker;
}

// A pod that is counted as failed must not hide the failure of another.
TEST(BackoffLimit, OfZeroSeesAFailureBesideAPodThatIsGoing) {
  for (const bool is_evicted : {false, true}) {
    FakeCluster cluster(TestJob{.run_policy = R"({"backoffLimit":0})"});
    cluster.Settle();
    cluster.AllRunning();
    cluster.Settle();
    if (is_evicted) {
      cluster.Evict("j-worker-0");
    } else {
      cluster.BeginDeletion("j-worker-0");
    }
    cluster.Settle();
    EXPECT_EQ(cluster.Counts("Worker"), "a1 s0 f1");
    cluster.Phase("j-worker-1", "Failed", 1);
    cluster.Settle();
    EXPECT_NE(cluster.Types().find("Failed=True"), std::string::npos) << is_evicted;
  }
}

TEST(BackoffLimit, NeverAndPodsThatDoNotRunAreNotCounted) {
  FakeCluster cluster(TestJob{.worker_policy = "Never", .run_policy = R"({"backoffLimit":1})"});
  cluster.Settle();
  cluster.Phase("j-worker-0", "Running", -1, 9);
  cluster.Phase("j-master-0", "Pending", -1, 9);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True");
}

TEST(BackoffLimit, InitContainersCount) {
  FakeCluster cluster(TestJob{.run_policy = R"({"backoffLimit":2})"});
  cluster.Settle();
  cluster.Phase("j-worker-0", "Running", -1, 1);
  text::Set(cluster.pods.at("j-worker-0"), {"status", "initContainerStatuses"},
            Parse(R"([{"name":"init-pytorch","restartCount":1}])"));
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Failed=True");
}

// O5: v1 does not count them either.
TEST(BackoffLimit, PodsThatAreReplacedAreNotCounted) {
  FakeCluster cluster(TestJob{.worker_policy = "ExitCode", .run_policy = R"({"backoffLimit":2})"});
  for (int i = 0; i < 8; ++i) {
    cluster.Settle();
    cluster.Phase("j-worker-0", "Failed", 137);
  }
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Restarting=True");
  EXPECT_EQ(cluster.counters[Counter::kRestarted], 8);
}

TEST(BackoffLimit, AMasterThatIsDoneComesFirst) {
  FakeCluster cluster(TestJob{.run_policy = R"({"backoffLimit":0})"});
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Phase("j-worker-0", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Succeeded=True");
}

// L1, L2.
TEST(ActiveDeadline, IsStartTimePlusTheSeconds) {
  api::RunPolicy policy;
  api::JobStatus status;
  EXPECT_FALSE(Deadline(policy, status));
  policy.active_deadline_seconds = 2;
  EXPECT_FALSE(Deadline(policy, status)) << "not started";
  status.start_time = TestTime();
  EXPECT_EQ(*Deadline(policy, status), TestTime() + std::chrono::seconds(2));
  policy.active_deadline_seconds = 0;
  EXPECT_EQ(*Deadline(policy, status), TestTime());
  policy.active_deadline_seconds = INT64_MAX;
  EXPECT_FALSE(Deadline(policy, status));
  policy.active_deadline_seconds = INT64_MIN;
  EXPECT_LT(*Deadline(policy, status), TestTime());
}

// J5, O7.
TEST(ActiveDeadline, ATimerIsAskedForAndEverythingGoes) {
  FakeCluster cluster(TestJob{.run_policy = R"({"activeDeadlineSeconds":3})"});
  EXPECT_EQ(*cluster.Step().look_again, TestTime() + std::chrono::seconds(3));
  cluster.AllRunning();
  cluster.Settle();
  cluster.TakeEvents();
  cluster.now += std::chrono::milliseconds(2999);
  EXPECT_EQ(*cluster.Step().look_again, TestTime() + std::chrono::seconds(3));
  EXPECT_EQ(cluster.pods.size(), 3u);
  cluster.now += std::chrono::milliseconds(1);
  EXPECT_FALSE(cluster.Step().look_again);
  EXPECT_EQ(cluster.pods.size(), 3u) << "the end is on record before the pods go";
  cluster.Settle();
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_TRUE(cluster.services.empty());
  EXPECT_EQ(cluster.Types(), "Created=True Running=False Failed=True");
  EXPECT_TRUE(cluster.Conditions().back().ends_with(kDeadlineMessage));
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s0 f0");
  EXPECT_EQ(cluster.TakeEvents()[0], std::string("Normal PyTorchJobFailed: ") + kDeadlineMessage);
  EXPECT_EQ(cluster.counters[Counter::kFailed], 1);
}

TEST(ActiveDeadline, IsLookedAtSoonAlthoughTheClockWasSetBack) {
  FakeCluster cluster(
      TestJob{.run_policy = R"({"activeDeadlineSeconds":3,"ttlSecondsAfterFinished":2})"});
  cluster.AllRunning();
  cluster.Settle();
  cluster.now -= std::chrono::hours(1);
  EXPECT_EQ(*cluster.Step().look_again, cluster.now + std::chrono::seconds(3));
  cluster.now += std::chrono::hours(1) + std::chrono::seconds(3);
  cluster.Settle();
  EXPECT_EQ(cluster.counters[Counter::kFailed], 1);
  cluster.now -= std::chrono::hours(1);
  EXPECT_EQ(*cluster.Step().look_again, cluster.now + std::chrono::seconds(2));
}

TEST(ActiveDeadline, StartsAnewWithTheResumption) {
  FakeCluster cluster(TestJob{.run_policy = R"({"activeDeadlineSeconds":10})"});
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  cluster.now += std::chrono::hours(1);
  EXPECT_FALSE(cluster.Step().look_again);
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.Step();
  EXPECT_EQ(*cluster.Step().look_again, cluster.now + std::chrono::seconds(10));
  EXPECT_EQ(cluster.Types(), "Created=True Suspended=False");
}

// A job of three pods that run, and of which a note says since when it is stalled.
FakeCluster StalledJob(std::string_view action, std::string_view note, int workers = 2,
                       const char* began = "2026-07-30T10:00:00Z") {
  FakeCluster cluster(TestJob{
      .workers = workers,
      .pod_template = R"({"spec":{"containers":[{"name":"pytorch","env":[{"name":"PET_ON_STALL",)"
                      R"("value":")" +
                      std::string(action) + R"("}]}]}})"});
  cluster.Settle();
  cluster.AllRunning();
  for (auto& [name, pod] : cluster.pods) {
    text::Json& container = text::Ensure(pod, {"status", "containerStatuses"}).as_array()[0];
    text::Set(container, {"state", "running", "startedAt"}, text::Json(began));
  }
  text::Set(cluster.job, {"metadata", "annotations", "muster.dev/stall"}, text::Json(note));
  cluster.Settle();
  return cluster;
}

constexpr const char* kStalledNote =
    "stalled 2026-07-30T10:00:05Z rank 1 has not entered all_reduce (train.py:8)";

TEST(OnStall, StopFailsTheJobWithTheRankThatHoldsItUp) {
  FakeCluster cluster = StalledJob("stop", kStalledNote);
  EXPECT_TRUE(cluster.Conditions().back().ends_with(
      "Job j has failed because it was stalled (--on-stall=stop): rank 1 has not entered "
      "all_reduce (train.py:8)"))
      << cluster.Conditions().back();
  EXPECT_TRUE(cluster.pods.empty());
}

TEST(OnStall, APodMayHaveBegunWithinTheSecondOfTheNote) {
  FakeCluster cluster = StalledJob("stop", kStalledNote, 2, "2026-07-30T10:00:05.700000Z");
  EXPECT_NE(cluster.Types().find("Failed=True"), std::string::npos);
  cluster = StalledJob("stop", kStalledNote, 2, "2026-07-30T10:00:06.000001Z");
  EXPECT_EQ(cluster.Types().find("Failed=True"), std::string::npos) << "a later attempt";
}

TEST(OnStall, AJobOfWhichAPodIsStillToStartGoesOn) {
  const auto has_ended = [](void (*change)(FakeCluster&)) {
    FakeCluster cluster = StalledJob("stop", "");
    change(cluster);
    text::Set(cluster.job, {"metadata", "annotations", "muster.dev/stall"},
              text::Json(kStalledNote));
    cluster.Step();
    return cluster.Types().find("Failed=True") != std::string::npos;
  };
  EXPECT_FALSE(has_ended([](FakeCluster& cluster) { cluster.Phase("j-worker-1", "Pending"); }))
      << "its code or its image is being fetched";
  EXPECT_FALSE(has_ended([](FakeCluster& cluster) { cluster.pods.erase("j-worker-1"); }))
      << "it is to be created again";
  EXPECT_TRUE(has_ended([](FakeCluster&) {}));
  EXPECT_TRUE(has_ended([](FakeCluster& cluster) { cluster.Phase("j-worker-1", "Succeeded", 0); }));
}

TEST(OnStall, AnElasticJobDoesNotWaitForAPodWithoutRoom) {
  const auto has_ended = [](int least, const char* condition) {
    FakeCluster cluster = StalledJob("stop", "");
    text::Set(cluster.job, {"spec", "elasticPolicy"},
              text::Object{{"minReplicas", least}, {"maxReplicas", 3}});
    cluster.Phase("j-worker-1", "Pending");
    text::Set(cluster.pods.at("j-worker-1"), {"status", "conditions"},
              text::Array{text::Object{{"type", "PodScheduled"}, {"status", condition}}});
    text::Set(cluster.job, {"metadata", "annotations", "muster.dev/stall"},
              text::Json(kStalledNote));
    cluster.Step();
    return cluster.Types().find("Failed=True") != std::string::npos;
  };
  EXPECT_TRUE(has_ended(2, "False"));
  EXPECT_FALSE(has_ended(2, "True")) << "it is about to start";
  EXPECT_FALSE(has_ended(3, "False")) << "the others wait for it";
}

TEST(OnStall, AnythingElseLeavesItAlone) {
  const auto is_left = [](const FakeCluster& cluster) {
    return cluster.Types().find("Failed=True") == std::string::npos && !cluster.pods.empty();
  };
  for (const char* const action : {"report", "restart", "off", "panic", ""}) {
    EXPECT_TRUE(is_left(StalledJob(action, kStalledNote))) << action;
  }
  EXPECT_TRUE(is_left(StalledJob("stop", ""))) << "it goes on";
  EXPECT_TRUE(is_left(StalledJob("stop", "waiting 2026-07-30T10:00:05Z rank 1 is busy")));
  EXPECT_TRUE(is_left(StalledJob("stop", "slowed 2026-07-30T10:00:05Z rank 1 is late")));
  EXPECT_TRUE(is_left(StalledJob("stop", "stalled soon rank 1")));
  EXPECT_TRUE(is_left(StalledJob("stop", "stalled 2026-07-30T09:59:59Z rank 1 is gone")))
      << "an earlier attempt was stalled";
  EXPECT_TRUE(is_left(StalledJob("stop", kStalledNote, -1))) << "the launcher in the pod ends it";
}

}  // namespace
}  // namespace reconcile
