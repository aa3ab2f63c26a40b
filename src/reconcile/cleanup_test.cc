#include "reconcile/cleanup.h"

#include <gtest/gtest.h>

#include "api/object.h"
#include "reconcile/limits/ttl.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

struct Policy {
  const char* policy;
  Strings left;
};

// P1, P3, P4, O3: a succeeded master, a running worker and a pending one.
TEST(CleanUp, FollowsCleanPodPolicy) {
  const Policy cases[] = {
      {R"("All")", {}},
      {R"("Running")", {"j-master-0"}},
      {R"("None")", {"j-master-0", "j-worker-0", "j-worker-1"}},
      {"null", {"j-master-0", "j-worker-0", "j-worker-1"}},
      {R"("Maybe")", {"j-master-0", "j-worker-0", "j-worker-1"}},
  };
  for (const Policy& test : cases) {
    SCOPED_TRACE(test.policy);
    FakeCluster cluster(TestJob{});
    cluster.PatchJob({"spec", "runPolicy", "cleanPodPolicy"}, test.policy);
    cluster.Settle();
    cluster.Phase("j-master-0", "Running");
    cluster.Phase("j-worker-0", "Running");
    cluster.Settle();
    cluster.Phase("j-master-0", "Succeeded", 0);
    cluster.Settle();
    EXPECT_EQ(FakeCluster::Names(cluster.pods), test.left);
    EXPECT_EQ(FakeCluster::Names(cluster.services), test.left);
    EXPECT_EQ(cluster.Counts("Worker"), "a0 s1 f0");
    EXPECT_TRUE(cluster.Look().is_settled);
  }
}

TEST(CleanUp, LetsRanksEndByThemselvesWhereAskedTo) {
  FakeCluster cluster(TestJob{.workers = 1});
  cluster.options.success_grace = std::chrono::seconds(10);
  cluster.PatchJob({"spec", "runPolicy", "cleanPodPolicy"}, R"("Running")");
  cluster.Settle();
  cluster.Phase("j-master-0", "Running");
  cluster.Phase("j-worker-0", "Running");
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 2U);
  EXPECT_TRUE(cluster.Look().look_again);
  cluster.now += std::chrono::seconds(11);
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), Strings{"j-master-0"});
}

TEST(CleanUp, LetsARankThatIsAboutToStartEndByItself) {
  FakeCluster cluster(TestJob{.workers = 1});
  cluster.options.success_grace = std::chrono::seconds(10);
  cluster.PatchJob({"spec", "runPolicy", "cleanPodPolicy"}, R"("Running")");
  cluster.Settle();
  text::Set(cluster.pods.at("j-worker-0"), {"spec", "nodeName"}, text::Json("n"));
  cluster.Phase("j-master-0", "Running");
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 2U);
}

// A pod's log is deleted with it: failed pods stay after a limit too, unless the policy is All.
TEST(CleanUp, KeepsFailedPodsAfterALimit) {
  const Policy cases[] = {{"null", {"j-master-0"}},
                          {R"("None")", {"j-master-0"}},
                          {R"("Running")", {"j-master-0"}},
                          {R"("All")", {}}};
  for (const Policy& test : cases) {
    SCOPED_TRACE(test.policy);
    FakeCluster cluster(TestJob{.workers = 1});
    cluster.PatchJob({"spec", "runPolicy", "backoffLimit"}, "0");
    cluster.PatchJob({"spec", "runPolicy", "cleanPodPolicy"}, test.policy);
    cluster.Settle();
    cluster.AllRunning();
    cluster.Settle();
    cluster.Phase("j-master-0", "Failed", 3);
    cluster.Settle();
    EXPECT_EQ(FakeCluster::Names(cluster.pods), test.left);
  }
}

// A way to fail: the job's settings and what happens to it.
struct WayToFail {
  const char* name;
  TestJob job;
  void (*happens)(FakeCluster&);
};

const WayToFail kWaysToFail[] = {
    {"a master under Never",
     {.master_policy = "Never"},
     [](FakeCluster& cluster) { cluster.Phase("j-master-0", "Failed", 1); }},
    {"a worker under Never",
     {.worker_policy = "Never"},
     [](FakeCluster& cluster) { cluster.Phase("j-worker-1", "Failed", 1); }},
    {"a permanent exit code",
     {.worker_policy = "ExitCode"},
     [](FakeCluster& cluster) { cluster.Phase("j-worker-1", "Failed", 1); }},
    {"no restarts",
     {.run_policy = R"({"backoffLimit":0})"},
     [](FakeCluster& cluster) { cluster.Phase("j-worker-1", "Failed", 1); }},
    {"one restart too many",
     {.run_policy = R"({"backoffLimit":3})"},
     [](FakeCluster& cluster) { cluster.Phase("j-worker-1", "Running", -1, 3); }},
    {"the deadline",
     {.run_policy = R"({"activeDeadlineSeconds":5})"},
     [](FakeCluster& cluster) { cluster.now += std::chrono::seconds(5); }},
};

TEST(CleanUp, EndsWhatRunsOfAFailedJobInPlaceWhereAskedTo) {
  for (const WayToFail& way : kWaysToFail) {
    for (const char* const policy : {"null", R"("None")", R"("Running")", R"("All")"}) {
      SCOPED_TRACE(std::string(way.name) + ", " + policy);
      FakeCluster cluster(way.job);
      cluster.options.ends_pods_in_place = true;
      cluster.PatchJob({"spec", "runPolicy", "cleanPodPolicy"}, policy);
      cluster.Settle();
      for (auto& [name, pod] : cluster.pods) text::Set(pod, {"spec", "nodeName"}, "n");
      cluster.AllRunning();
      cluster.Settle();
      way.happens(cluster);
      cluster.Settle();
      EXPECT_NE(cluster.Types().find("Failed=True"), std::string::npos) << cluster.Types();
      EXPECT_EQ(cluster.pods.size(), 3U);
      for (const auto& [name, pod] : cluster.pods) {
        const bool was_running = text::GetString(pod, {"status", "phase"}) == "Running";
        EXPECT_EQ(!api::Annotation(pod, api::kEndAnnotation).empty(), was_running) << name;
      }
      EXPECT_TRUE(cluster.Look().is_settled);
    }
  }
}

TEST(CleanUp, EndsRanksThatOutliveASuccessWhereNobodySaysWhatBecomesOfThem) {
  for (const auto& [policy, is_ended] :
       std::map<std::string, bool>{{"null", true}, {R"("None")", false}}) {
    FakeCluster cluster(TestJob{.workers = 1});
    cluster.options.ends_pods_in_place = true;
    cluster.options.success_grace = std::chrono::seconds(10);
    cluster.PatchJob({"spec", "runPolicy", "cleanPodPolicy"}, policy);
    cluster.Settle();
    for (auto& [name, pod] : cluster.pods) text::Set(pod, {"spec", "nodeName"}, "n");
    cluster.AllRunning();
    cluster.Settle();
    cluster.Phase("j-master-0", "Succeeded", 0);
    cluster.Settle();
    const text::Json& worker = cluster.pods.at("j-worker-0");
    EXPECT_EQ(api::Annotation(worker, api::kEndAnnotation), "") << policy;
    cluster.now += std::chrono::seconds(11);
    cluster.Settle();
    EXPECT_EQ(!api::Annotation(worker, api::kEndAnnotation).empty(), is_ended) << policy;
    EXPECT_EQ(cluster.pods.size(), 2U);
  }
}

TEST(CleanUp, DeletesWhatNeverBeganOfAFailedJob) {
  FakeCluster cluster(TestJob{.run_policy = R"({"backoffLimit":0})"});
  cluster.options.ends_pods_in_place = true;
  cluster.Settle();
  cluster.Phase("j-master-0", "Running");
  cluster.Phase("j-worker-0", "Failed", 1);
  text::Set(cluster.pods.at("j-master-0"), {"spec", "nodeName"}, "n");
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), (Strings{"j-master-0", "j-worker-0"}));
}

// J3, J4.
TEST(CleanUp, OfAJobThatWasFinishedBefore) {
  for (const char* const phase : {"Running", "Succeeded"}) {
    for (const auto& [policy, left] : std::map<std::string, size_t>{
             {"All", 0}, {"Running", phase == std::string("Running") ? 0 : 6}, {"None", 6}}) {
      FakeCluster cluster(TestJob{.has_master = false, .workers = 6});
      cluster.Settle();
      for (const auto& [name, pod] : cluster.pods) cluster.Phase(name, phase);
      cluster.PatchJob({"status", "conditions"}, R"([{"type":"Succeeded","status":"True"}])");
      text::Set(cluster.job, {"spec", "runPolicy", "cleanPodPolicy"}, text::Json(policy));
      cluster.Settle();
      EXPECT_EQ(cluster.pods.size(), left) << policy << phase;
      EXPECT_EQ(cluster.services.size(), left) << policy << phase;
    }
  }
}

TEST(CleanUp, NothingElseIsEverDoneForAFinishedJob) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  const std::string before = text::ToJson(*text::Find(cluster.job, {"status"}));
  cluster.TakeEvents();
  cluster.pods.erase("j-worker-1");
  cluster.services.clear();
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, "5");
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Phase("j-worker-0", "Failed", 1);
  cluster.Settle();
  EXPECT_EQ(text::ToJson(*text::Find(cluster.job, {"status"})), before);
  EXPECT_EQ(cluster.pods.size(), 2u);
  EXPECT_TRUE(cluster.TakeEvents().empty());
  EXPECT_TRUE(cluster.Look().is_settled);
}

TEST(CleanUp, AServiceWhosePodIsGoneGoesToo) {
  FakeCluster cluster(TestJob{.run_policy = R"({"cleanPodPolicy":"Running"})"});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Step();
  cluster.pods.erase("j-worker-0");
  cluster.pods.erase("j-worker-1");
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.services), (Strings{"j-master-0"}));
}

TEST(CleanUp, WhatIsGoingIsNotDeletedTwice) {
  FakeCluster cluster(TestJob{.run_policy = R"({"cleanPodPolicy":"All"})"});
  cluster.is_graceful = true;
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 3u);
  EXPECT_TRUE(cluster.Look().is_settled);
}

// The end is recorded before pods are deleted: a refused status write cannot make the job run
// again.
TEST(CleanUp, ComesAPassAfterTheEnd) {
  FakeCluster cluster(TestJob{.run_policy = R"({"cleanPodPolicy":"All"})"});
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  const Plan end = cluster.Step();
  EXPECT_TRUE(end.writes.empty());
  EXPECT_TRUE(end.status);
  EXPECT_FALSE(end.is_settled);
  const Plan clean_up = cluster.Step();
  EXPECT_EQ(clean_up.writes.size(), 6u);
  EXPECT_FALSE(clean_up.is_settled);
}

api::JobStatus FinishedAt(std::optional<base::Time> when, std::string_view type = "Succeeded") {
  api::JobStatus status;
  status.conditions.push_back({std::string(type), "True", "", "", {}, TestTime()});
  status.completion_time = when;
  return status;
}

// Y1-Y6.
TEST(Ttl, Expiry) {
  api::RunPolicy policy;
  EXPECT_FALSE(Expiry(policy, FinishedAt(TestTime())));
  policy.ttl_seconds_after_finished = 5;
  EXPECT_FALSE(Expiry(policy, FinishedAt(TestTime(), "Running")));
  for (const char* const type : {"Succeeded", "Failed"}) {
    EXPECT_EQ(*Expiry(policy, FinishedAt(TestTime(), type)), TestTime() + std::chrono::seconds(5));
  }
  EXPECT_FALSE(Expiry(policy, FinishedAt(std::nullopt)));
}

// J7, J8, O8.
TEST(Ttl, TheJobGoesWhenItIsOver) {
  for (const bool is_failure : {false, true}) {
    for (const int ttl : {0, 3}) {
      FakeCluster cluster(TestJob{.master_policy = "Never"});
      text::Set(cluster.job, {"spec", "runPolicy", "ttlSecondsAfterFinished"}, ttl);
      cluster.Settle();
      cluster.Phase("j-master-0", is_failure ? "Failed" : "Succeeded", is_failure ? 1 : 0);
      cluster.Step();
      cluster.TakeEvents();
      if (ttl > 0) {
        const Plan plan = cluster.Step();
        EXPECT_EQ(*plan.look_again, TestTime() + std::chrono::seconds(3));
        EXPECT_FALSE(plan.is_settled);
        cluster.now += std::chrono::seconds(3);
      }
      const Plan plan = cluster.Step();
      ASSERT_EQ(plan.writes.size(), 1u);
      EXPECT_EQ(plan.writes[0].uid, "uid-of-j");
      EXPECT_EQ(plan.counters, std::vector<Counter>{Counter::kDeleted});
      EXPECT_TRUE(cluster.job.is_null());
      EXPECT_EQ(cluster.TakeEvents(), (Strings{"Normal SuccessfulDeletePod: Deleted job: j"}));
    }
  }
}

TEST(Ttl, AFinishedJobThatIsSuspendedGoesToo) {
  FakeCluster cluster(TestJob{.run_policy = R"({"ttlSecondsAfterFinished":1})"});
  cluster.Settle();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.now += std::chrono::seconds(1);
  cluster.Step();
  EXPECT_TRUE(cluster.job.is_null());
}

// What v1 leaves behind after a permanent exit code.
TEST(Ttl, AMissingCompletionTimeIsThatOfTheLastCondition) {
  FakeCluster cluster(TestJob{.run_policy = R"({"ttlSecondsAfterFinished":60})"});
  cluster.Settle();
  cluster.PatchJob({"status", "conditions"}, R"([{"type":"Failed","status":"True",
      "reason":"PyTorchJobFailed","lastTransitionTime":"2026-07-30T09:59:30Z"}])");
  const Plan plan = cluster.Step();
  EXPECT_EQ(text::GetString(cluster.job, {"status", "completionTime"}), "2026-07-30T09:59:30Z");
  EXPECT_EQ(*plan.look_again, TestTime() + std::chrono::seconds(30));
}

}  // namespace
}  // namespace reconcile
