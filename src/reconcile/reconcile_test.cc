#include "reconcile/reconcile.h"

#include <gtest/gtest.h>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

bool IsEmpty(const Plan& plan) {
  return plan.writes.empty() && !plan.status && plan.events.empty() && plan.counters.empty() &&
         !plan.look_again;
}

// M1-M5, E5.
TEST(Reconcile, JobsOfAnotherManagerAreNotTouched) {
  for (const auto& [managed_by, is_ours] :
       std::map<std::string, bool>{{"null", true},
                                   {R"("")", false},
                                   {R"("kubeflow.org/training-operator")", true},
                                   {R"("kueue.x-k8s.io/multikueue")", false},
                                   {R"("other")", false}}) {
    FakeCluster cluster(TestJob{});
    cluster.PatchJob({"spec", "runPolicy", "managedBy"}, managed_by);
    cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
    EXPECT_EQ(!IsEmpty(cluster.Look()), is_ours) << managed_by;
    EXPECT_EQ(cluster.Look().is_settled, !is_ours);
    cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
    EXPECT_EQ(!IsEmpty(cluster.Look()), is_ours) << managed_by;
  }
}

TEST(Reconcile, AJobThatIsBeingDeletedIsNotTouched) {
  FakeCluster cluster(TestJob{});
  cluster.PatchJob({"metadata", "deletionTimestamp"}, R"("2026-07-30T10:00:00Z")");
  EXPECT_TRUE(IsEmpty(cluster.Look()));
}

TEST(Reconcile, WhatIsNoJobIsNotTouched) {
  EXPECT_TRUE(IsEmpty(Reconcile({}, {}, TestTime())));
  FakeCluster no_replicas(TestJob{.has_master = false, .workers = -1});
  EXPECT_TRUE(IsEmpty(no_replicas.Look()));
  FakeCluster no_uid(TestJob{});
  text::Erase(no_uid.job, {"metadata", "uid"});
  EXPECT_TRUE(IsEmpty(no_uid.Look()));
  for (const char* const text : {"null", "[]", "{}", R"({"spec":1})", R"({"metadata":[]})"}) {
    FakeCluster cluster(Parse(text));
    Observed observed;
    observed.job = &cluster.job;
    EXPECT_TRUE(IsEmpty(Reconcile(observed, {}, TestTime()))) << text;
  }
}

// O14: whatever was patched before the first reconciliation.
TEST(Reconcile, CreatedIsSetWheneverItIsMissing) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.PatchJob({"status", "conditions"},
                   R"([{"type":"Running","status":"True","reason":"PyTorchJobRunning"}])");
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Running=True Created=True");
  EXPECT_EQ(cluster.counters[Counter::kCreated], 2);
}

// E1.
TEST(Reconcile, TheFixtureOfTheOriginalsTests) {
  TestJob job;
  job.name = "test-job";
  job.pod_template = R"({"spec":{"containers":[{"name":"pytorch","image":"i","ports":[
      {"name":"pytorchjob-port","containerPort":8080}]}]}})";
  FakeCluster cluster(job);
  cluster.Settle();
  const text::Json& container =
      text::Find(cluster.pods.at("test-job-master-0"), {"spec", "containers"})->at(0);
  EXPECT_EQ(*text::Find(container, {"ports"}),
            Parse(R"([{"name":"pytorchjob-port","containerPort":8080}])"));
  EXPECT_EQ(text::Find(container, {"env"})->at(2),
            Parse(R"({"name":"MASTER_PORT","value":"8080"})"));
  EXPECT_EQ(text::Find(container, {"env"})->at(4),
            Parse(R"({"name":"MASTER_ADDR","value":"test-job-master-0"})"));
  EXPECT_EQ(*text::Find(cluster.services.at("test-job-master-0"), {"spec", "ports"}),
            Parse(R"([{"name":"pytorchjob-port","port":8080}])"));
  cluster.Phase("test-job-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Counts("Master"), "a0 s1 f0");
  EXPECT_EQ(cluster.Types(), "Created=True Succeeded=True");
}

// J12-J14.
TEST(Reconcile, NormalPath) {
  FakeCluster cluster(TestJob{.has_master = false, .workers = 6});
  EXPECT_EQ(cluster.Step().writes.size(), 12u);
  EXPECT_TRUE(cluster.Step().writes.empty());
  for (int i = 3; i < 6; ++i) {
    cluster.pods.erase("j-worker-" + std::to_string(i));
    cluster.services.erase("j-worker-" + std::to_string(i));
  }
  EXPECT_EQ(cluster.Step().writes.size(), 6u);
  cluster.Phase("j-worker-5", "Running");
  cluster.Step();
  EXPECT_EQ(cluster.Types(), "Created=True Running=True");
  EXPECT_EQ(cluster.Counts("Worker"), "a1 s0 f0");
  cluster.Phase("j-worker-5", "Succeeded", 0);
  cluster.Step();
  EXPECT_EQ(cluster.Counts("Worker"), "a0 s1 f0");
  for (const auto& [name, pod] : cluster.pods) cluster.Phase(name, "Succeeded", 0);
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Running=False Succeeded=True");
  EXPECT_EQ(cluster.pods.size(), 6u);
}

TEST(Reconcile, FieldsOfTheStatusThatWeDoNotModelSurvive) {
  FakeCluster cluster(TestJob{});
  cluster.PatchJob({"status"}, R"({"future":{"x":1}})");
  cluster.Settle();
  EXPECT_EQ(*text::Find(cluster.job, {"status", "future"}), Parse(R"({"x":1})"));
}

TEST(Reconcile, ARunningJobIsNeverSettled) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  EXPECT_TRUE(IsEmpty(cluster.Look()));
  EXPECT_FALSE(cluster.Look().is_settled);
}

TEST(Reconcile, TimesAreStoredInWholeSeconds) {
  FakeCluster cluster(TestJob{});
  cluster.now += std::chrono::milliseconds(700);
  cluster.Step();
  EXPECT_EQ(text::GetString(cluster.job, {"status", "startTime"}), "2026-07-30T10:00:00Z");
  EXPECT_TRUE(IsEmpty(cluster.Look()));
}

// 4.9 O10.
TEST(Reconcile, AJobThatIsHandedBackIsTakenUp) {
  FakeCluster cluster(TestJob{.run_policy = R"({"managedBy":"kueue.x-k8s.io/multikueue"})"});
  cluster.Settle();
  EXPECT_TRUE(cluster.pods.empty());
  cluster.PatchJob({"spec", "runPolicy", "managedBy"}, R"("kubeflow.org/training-operator")");
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 3u);
}

}  // namespace
}  // namespace reconcile
