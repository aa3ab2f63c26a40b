#include "reconcile/gang.h"

#include <gtest/gtest.h>

#include "reconcile/resource_sum.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

constexpr const char* kWithResources = R"({"spec":{"containers":[{"name":"pytorch",
    "resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2","memory":"1Gi"}}}]}})";

Options Gang(std::string_view name) {
  Options options;
  options.gang_scheduler_name = name;
  return options;
}

TestJob GoldenJob() {
  TestJob job;
  job.pod_template = kWithResources;
  job.metadata = R"({"annotations":{"team":"x"},"labels":{"l":"1"}})";
  job.run_policy = R"({"schedulingPolicy":{"minAvailable":2,"queue":"q1","priorityClass":"high",
      "scheduleTimeoutSeconds":60}})";
  return job;
}

// Golden `scen-volcano`.
TEST(Gang, VolcanoHoldsThePodsBackUntilTheGroupIsAdmitted) {
  FakeCluster cluster(GoldenJob(), Gang("Volcano"));
  cluster.Settle();
  const text::Json& group = cluster.pod_groups.at("j");
  EXPECT_EQ(text::GetString(group, {"apiVersion"}), "scheduling.volcano.sh/v1beta1");
  EXPECT_EQ(text::GetString(group, {"kind"}), "PodGroup");
  EXPECT_EQ(*text::Find(group, {"metadata", "annotations"}), Parse(R"({"team":"x"})"));
  EXPECT_EQ(text::Find(group, {"metadata", "labels"}), nullptr);
  EXPECT_EQ(*text::Find(group, {"metadata", "ownerReferences"}), Parse(R"([{
      "apiVersion":"kubeflow.org/v1","blockOwnerDeletion":true,"controller":true,
      "kind":"PyTorchJob","name":"j","uid":"uid-of-j"}])"));
  EXPECT_EQ(*text::Find(group, {"spec"}), Parse(R"({"minMember":2,"minResources":{"cpu":"2"},
      "priorityClassName":"high","queue":"q1"})"));
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_TRUE(cluster.services.empty());
  EXPECT_EQ(cluster.Types(), "Created=True");
  EXPECT_EQ(text::Find(cluster.job, {"status", "replicaStatuses"}), nullptr);
  EXPECT_FALSE(cluster.HasTime("startTime"));
  EXPECT_TRUE(cluster.HasTime("lastReconcileTime"));
  EXPECT_TRUE(cluster.TakeEvents().empty());

  text::Set(cluster.pod_groups.at("j"), {"status", "phase"}, text::Json("Pending"));
  cluster.now += std::chrono::seconds(20);
  const Plan waiting = cluster.Step();
  EXPECT_TRUE(waiting.writes.empty());
  EXPECT_FALSE(waiting.status) << "waiting writes nothing";

  text::Set(cluster.pod_groups.at("j"), {"status", "phase"}, text::Json("Inqueue"));
  cluster.Settle();
  ASSERT_EQ(cluster.pods.size(), 3u);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(text::GetString(pod, {"spec", "schedulerName"}), "volcano");
    EXPECT_EQ(*text::Find(pod, {"metadata", "annotations"}),
              Parse(name == "j-master-0" ? R"({"scheduling.k8s.io/group-name":"j",
                                               "volcano.sh/task-spec":"master"})"
                                         : R"({"scheduling.k8s.io/group-name":"j",
                                               "volcano.sh/task-spec":"worker"})"));
  }
  EXPECT_TRUE(cluster.HasTime("startTime"));

  cluster.TakeEvents();
  cluster.Phase("j-master-0", "Succeeded", 0);
  cluster.Settle();
  EXPECT_TRUE(cluster.pod_groups.empty());
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal ExitedWithCode: Pod: ns.j-master-0 exited with code 0",
                     "Normal PyTorchJobSucceeded: PyTorchJob j is successfully completed.",
                     "Normal SuccessfulDeletePodGroup: Deleted PodGroup: j",
                     "Normal JobTerminated: Job has been terminated. Deleting PodGroup"}));
  EXPECT_TRUE(cluster.Look().is_settled);
}

// Golden `scen-scheduler-plugins`.
TEST(Gang, SchedulerPluginsDoesNotHoldThemBack) {
  FakeCluster cluster(GoldenJob(), Gang("scheduler-plugins"));
  cluster.Settle();
  const text::Json& group = cluster.pod_groups.at("j");
  EXPECT_EQ(text::GetString(group, {"apiVersion"}), "scheduling.x-k8s.io/v1alpha1");
  EXPECT_EQ(*text::Find(group, {"spec"}), Parse(R"({"minMember":2,"minResources":{"cpu":"2"},
      "scheduleTimeoutSeconds":60})"));
  ASSERT_EQ(cluster.pods.size(), 3u);
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(text::GetString(pod, {"spec", "schedulerName"}), "scheduler-plugins");
    EXPECT_EQ(text::GetString(pod, {"metadata", "labels", "scheduling.x-k8s.io/pod-group"}), "j");
    EXPECT_EQ(text::Find(pod, {"metadata", "annotations"}), nullptr);
  }
  EXPECT_FALSE(cluster.HasTime("lastReconcileTime"));
}

TEST(Gang, WithoutASchedulingPolicyAllPodsCount) {
  TestJob job;
  job.pod_template = kWithResources;
  FakeCluster volcano(job, Gang("volcano"));
  volcano.Settle();
  EXPECT_EQ(*text::Find(volcano.pod_groups.at("j"), {"spec"}),
            Parse(R"({"minMember":3,"minResources":{"cpu":"3"},"queue":"default"})"));
  FakeCluster plugins(job, Gang("mine"));
  plugins.Settle();
  EXPECT_EQ(*text::Find(plugins.pod_groups.at("j"), {"spec"}),
            Parse(R"({"minMember":3,"minResources":{"cpu":"3"}})"));
}

// G1-G3 and golden `own schedulerName`.
TEST(Gang, AnotherSchedulerIsKeptAndSaidOnce) {
  TestJob job;
  job.pod_template = R"({"spec":{"schedulerName":"mine","containers":[{"name":"pytorch"}]}})";
  FakeCluster cluster(job, Gang("scheduler-plugins"));
  const Plan plan = cluster.Step();
  EXPECT_EQ(plan.events, (std::vector<Event>{{true, "SetPodTemplateSchedulerName",
                                              "Another scheduler is specified when "
                                              "gang-scheduling is enabled and it will not be "
                                              "overwritten"}}));
  for (const auto& [name, pod] : cluster.pods) {
    EXPECT_EQ(text::GetString(pod, {"spec", "schedulerName"}), "mine");
  }
  auto parsed = api::ParsePyTorchJob(job.Build());
  EXPECT_TRUE(HasOtherScheduler(*parsed, Gang("volcano")));
  EXPECT_FALSE(HasOtherScheduler(*parsed, Gang("mine")));
  EXPECT_FALSE(HasOtherScheduler(*parsed, Gang("")));
  EXPECT_FALSE(HasOtherScheduler(*api::ParsePyTorchJob(TestJob{}.Build()), Gang("volcano")));
  text::Erase(parsed->replica_specs.at("Master").template_json, {"spec", "schedulerName"});
  EXPECT_TRUE(HasOtherScheduler(*parsed, Gang("volcano")));
}

TEST(Gang, TheGroupIsUpdatedOnlyWhenItDiffers) {
  FakeCluster cluster(GoldenJob(), Gang("volcano"));
  cluster.Settle();
  text::Json& group = cluster.pod_groups.at("j");
  text::Set(group, {"metadata", "resourceVersion"}, text::Json("7"));
  text::Set(group, {"spec", "minTaskMember"}, Parse(R"({"a":1})"));
  text::Set(group, {"spec", "minResources", "cpu"}, text::Json("2000m"));
  text::Set(group, {"spec", "queue"}, text::Json("moved"));
  EXPECT_TRUE(cluster.Look().writes.empty()) << "the queue of a group that exists is its own";
  cluster.PatchJob({"spec", "runPolicy", "schedulingPolicy", "minAvailable"}, "3");
  cluster.PatchJob({"spec", "runPolicy", "schedulingPolicy", "priorityClass"}, R"("")");
  const Plan plan = cluster.Step();
  ASSERT_EQ(plan.writes.size(), 1u);
  EXPECT_EQ(plan.writes[0].verb, Write::Verb::kUpdate);
  EXPECT_EQ(*text::Find(cluster.pod_groups.at("j"), {"spec"}), Parse(R"({"minMember":3,
      "minResources":{"cpu":"3"},"queue":"moved","minTaskMember":{"a":1}})"));
  EXPECT_EQ(text::GetString(plan.writes[0].object, {"metadata", "resourceVersion"}), "7");
  EXPECT_TRUE(cluster.Look().writes.empty());
}

TEST(Gang, TheGroupGoesWithSuspensionAndComesBack) {
  FakeCluster cluster(GoldenJob(), Gang("volcano"));
  cluster.Settle();
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.now += std::chrono::seconds(5);
  cluster.Settle();
  EXPECT_TRUE(cluster.pod_groups.empty());
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "false");
  cluster.now += std::chrono::seconds(5);
  cluster.Settle();
  EXPECT_EQ(cluster.pod_groups.size(), 1u);
  EXPECT_TRUE(cluster.pods.empty());
  EXPECT_EQ(text::GetString(cluster.job, {"status", "lastReconcileTime"}), "2026-07-30T10:00:10Z");
}

TEST(Gang, TheGroupGoesWhenALimitEndsTheJob) {
  TestJob job = GoldenJob();
  job.run_policy = R"({"activeDeadlineSeconds":5})";
  FakeCluster cluster(job, Gang("mine"));
  cluster.Settle();
  cluster.now += std::chrono::seconds(5);
  cluster.Settle();
  EXPECT_TRUE(cluster.pod_groups.empty());
  EXPECT_TRUE(cluster.pods.empty());
}

TEST(Gang, TheTypeOfHighestPriorityCountsFirst) {
  TestJob job;
  job.run_policy = R"({"schedulingPolicy":{"minAvailable":2}})";
  text::Json object = job.Build();
  const auto set = [&](std::string_view type, std::string_view priority, std::string_view cpu) {
    const text::Path path = {"spec", "pytorchReplicaSpecs", type, "template", "spec"};
    text::Json& spec = *text::Find(object, path);
    text::Set(spec, {"priorityClassName"}, text::Json(priority));
    spec.at("containers").at(0).as_object()["resources"] =
        text::Object{{"requests", text::Object{{"cpu", cpu}, {"memory", "512Mi"}}}};
  };
  set("Master", "low", "100m");
  set("Worker", "high", "1500m");
  FakeCluster cluster(object, Gang("volcano"));
  cluster.priority_values = {{"low", 1}, {"high", 1000}};
  cluster.Settle();
  EXPECT_EQ(*text::Find(cluster.pod_groups.at("j"), {"spec", "minResources"}),
            Parse(R"({"cpu":"3","memory":"1Gi"})"));
  FakeCluster unknown(object, Gang("volcano"));
  unknown.Settle();
  EXPECT_EQ(*text::Find(unknown.pod_groups.at("j"), {"spec", "minResources"}),
            Parse(R"({"cpu":"1600m","memory":"1Gi"})"));
}

TEST(ResourceSum, PrintsAsKubernetesDoes) {
  struct Case {
    Strings parts;
    const char* expected;
  };
  const Case cases[] = {
      {{"1"}, "1"},
      {{"500m", "500m"}, "1"},
      {{"0.5", "1"}, "1500m"},
      {{"1Gi", "1Gi"}, "2Gi"},
      {{"512Mi", "1Gi"}, "1536Mi"},
      {{"1000", "1000"}, "2k"},
      {{"1Ki", "1"}, "1025"},
      {{"0", "0"}, "0"},
      {{"1e3"}, "1k"},
      {{"1G", "1Gi"}, "2073741824"},
      {{"7E", "7E"}, "9223372036854775807m"},
  };
  for (const Case& test : cases) {
    ResourceSum sum;
    for (const std::string& part : test.parts) sum.Add({{"x", part}});
    EXPECT_EQ(text::GetString(sum.ToJson(), {"x"}), test.expected) << test.parts[0];
  }
  ResourceSum sum;
  sum.Add({{"gpu", 2}, {"bad", "x"}, {"cpu", "1"}});
  sum.Add({{"gpu", 3}});
  EXPECT_EQ(text::ToJson(sum.ToJson()), R"({"cpu":"1","gpu":"5"})");
}

}  // namespace
}  // namespace reconcile
