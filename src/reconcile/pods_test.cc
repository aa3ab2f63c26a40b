#include "reconcile/pods.h"

#include <gtest/gtest.h>

#include "reconcile/restart.h"
#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

using text::Find;
using text::GetString;

const text::Json& Labels(const text::Json& object) { return *Find(object, {"metadata", "labels"}); }

TEST(Pods, AreMadeAllAtOnceMasterFirstPodBeforeService) {
  FakeCluster cluster(TestJob{});
  const Plan plan = cluster.Step();
  Strings order;
  for (const Write& write : plan.writes) {
    EXPECT_EQ(write.verb, Write::Verb::kCreate);
    order.push_back(std::string(write.resource->plural) + "/" + write.name);
  }
  EXPECT_EQ(order, (Strings{"pods/j-master-0", "services/j-master-0", "pods/j-worker-0",
                            "services/j-worker-0", "pods/j-worker-1", "services/j-worker-1"}));
  EXPECT_EQ(cluster.TakeEvents(),
            (Strings{"Normal SuccessfulCreatePod: Created pod: j-master-0",
                     "Normal SuccessfulCreateService: Created service: j-master-0",
                     "Normal SuccessfulCreatePod: Created pod: j-worker-0",
                     "Normal SuccessfulCreateService: Created service: j-worker-0",
                     "Normal SuccessfulCreatePod: Created pod: j-worker-1",
                     "Normal SuccessfulCreateService: Created service: j-worker-1"}));
}

// Golden `basic`.
TEST(Pods, CarryTheTemplateTheLabelsAndTheOwner) {
  TestJob job;
  job.pod_template = R"({"metadata":{"name":"ignored","namespace":"ignored","labels":{"l":"1"},
      "annotations":{"a":"1"},"finalizers":["f"]},"spec":{"containers":[
      {"name":"pytorch","image":"registry.local/train:1","env":[{"name":"USER_VAR","value":"1"}]},
      {"name":"side","image":"side:1"}],"futureField":{"x":[1]}}})";
  FakeCluster cluster(job);
  cluster.Settle();
  const text::Json& master = cluster.pods.at("j-master-0");
  EXPECT_EQ(*Find(master, {"apiVersion"}), "v1");
  EXPECT_EQ(*Find(master, {"kind"}), "Pod");
  EXPECT_EQ(GetString(master, {"metadata", "namespace"}), "ns");
  EXPECT_EQ(Labels(master), Parse(R"({"l":"1","training.kubeflow.org/job-name":"j",
      "training.kubeflow.org/job-role":"master",
      "training.kubeflow.org/operator-name":"pytorchjob-controller",
      "training.kubeflow.org/replica-index":"0","training.kubeflow.org/replica-type":"master"})"));
  EXPECT_EQ(Labels(cluster.pods.at("j-worker-1")), Parse(R"({"l":"1",
      "training.kubeflow.org/job-name":"j",
      "training.kubeflow.org/operator-name":"pytorchjob-controller",
      "training.kubeflow.org/replica-index":"1","training.kubeflow.org/replica-type":"worker"})"));
  EXPECT_EQ(*Find(master, {"metadata", "annotations"}), Parse(R"({"a":"1"})"));
  EXPECT_EQ(*Find(master, {"metadata", "finalizers"}), Parse(R"(["f"])"));
  EXPECT_EQ(*Find(master, {"metadata", "ownerReferences"}), Parse(R"([{
      "apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"j","uid":"uid-of-j",
      "controller":true,"blockOwnerDeletion":true}])"));
  EXPECT_EQ(*Find(master, {"spec", "futureField"}), Parse(R"({"x":[1]})"));
  EXPECT_EQ(GetString(master, {"spec", "restartPolicy"}), "OnFailure");
  EXPECT_EQ(Find(master, {"spec", "hostname"}), nullptr);
  EXPECT_EQ(Find(master, {"spec", "subdomain"}), nullptr);
  EXPECT_EQ(Find(master, {"spec", "schedulerName"}), nullptr);
}

TEST(Pods, TheFirstWorkerHoldsTheMasterRoleWithoutAMaster) {
  FakeCluster cluster(TestJob{.has_master = false});
  cluster.Settle();
  EXPECT_EQ(GetString(Labels(cluster.pods.at("j-worker-0")), {api::kJobRoleLabel}), "master");
  EXPECT_EQ(Find(Labels(cluster.pods.at("j-worker-1")), {api::kJobRoleLabel}), nullptr);
  EXPECT_EQ(Find(Labels(cluster.services.at("j-worker-0")), {api::kJobRoleLabel}), nullptr);
}

TEST(Pods, SlashesInNamesBecomeDashes) {
  TestJob job;
  job.name = "1/2/3";
  FakeCluster cluster(job);
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods),
            (Strings{"1-2-3-master-0", "1-2-3-worker-0", "1-2-3-worker-1"}));
  EXPECT_EQ(GetString(Labels(cluster.pods.at("1-2-3-worker-0")), {api::kJobNameLabel}), "1-2-3");
}

// R1-R4.
TEST(Pods, RestartPolicyOfThePod) {
  for (const auto& [policy, expected] :
       std::map<std::string, std::string>{{"ExitCode", "Never"},
                                          {"Never", "Never"},
                                          {"Always", "Always"},
                                          {"OnFailure", "OnFailure"},
                                          {"", "OnFailure"}}) {
    FakeCluster cluster(TestJob{.worker_policy = policy});
    cluster.Settle();
    EXPECT_EQ(GetString(cluster.pods.at("j-worker-0"), {"spec", "restartPolicy"}), expected);
  }
}

TEST(Pods, OverwritingTheTemplatesRestartPolicyIsSaidOnce) {
  TestJob job;
  job.pod_template = R"({"spec":{"restartPolicy":"Always","containers":[{"name":"pytorch"}]}})";
  FakeCluster cluster(job);
  const Plan plan = cluster.Step();
  ASSERT_EQ(plan.events.size(), 1u);
  EXPECT_TRUE(plan.events[0].is_warning);
  EXPECT_EQ(plan.events[0].reason, "SetPodTemplateRestartPolicy");
  EXPECT_EQ(plan.events[0].message,
            "Restart policy in pod template will be overwritten by restart policy in replica spec");
  EXPECT_EQ(GetString(cluster.pods.at("j-worker-0"), {"spec", "restartPolicy"}), "OnFailure");
  EXPECT_TRUE(cluster.Step().events.empty());
}

std::vector<Child> Indexes(std::initializer_list<int> indexes) {
  std::vector<Child> children;
  for (const int index : indexes) {
    Child child;
    child.index = index;
    children.push_back(child);
  }
  return children;
}

// Z1-Z4.
TEST(Pods, APlanHoldsNoMoreCreationsThanItIsTold) {
  const FakeCluster cluster(TestJob{.has_master = false, .workers = 10});
  Observed observed;
  observed.job = &cluster.job;
  observed.max_creations = 4;
  const Plan plan = Reconcile(observed, {}, cluster.now);
  EXPECT_EQ(plan.writes.size(), 8U);
  EXPECT_TRUE(plan.has_more);
}

TEST(Pods, MissingIndexes) {
  EXPECT_EQ(MissingIndexes(Indexes({0, 1, 2}), 3, 10), (std::vector<int>{}));
  EXPECT_EQ(MissingIndexes(Indexes({0, 1, 2}), 4, 10), (std::vector<int>{3}));
  EXPECT_EQ(MissingIndexes(Indexes({0, 1, 2}), 2, 10), (std::vector<int>{}));
  EXPECT_EQ(MissingIndexes(Indexes({0, 1, 2, 4}), 3, 10), (std::vector<int>{}));
  EXPECT_EQ(MissingIndexes(Indexes({0, 0, 2}), 4, 10), (std::vector<int>{1, 3}));
  EXPECT_EQ(MissingIndexes(Indexes({}), 5, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(MissingIndexes(Indexes({}), -1, 2), (std::vector<int>{}));
}

TEST(Pods, AHugeJobIsMadeInParts) {
  FakeCluster cluster(TestJob{.has_master = false, .workers = kMaxCreationsPerPlan + 10});
  EXPECT_EQ(cluster.Step().writes.size(), 2u * kMaxCreationsPerPlan);
  EXPECT_EQ(cluster.Step().writes.size(), 20u);
  EXPECT_TRUE(cluster.Step().writes.empty());
}

// O12.
TEST(Pods, ScalingDownDeletesTheHighestIndexesAndUpMakesThem) {
  FakeCluster cluster(TestJob{.workers = 3});
  cluster.Settle();
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, "1");
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), (Strings{"j-master-0", "j-worker-0"}));
  EXPECT_EQ(FakeCluster::Names(cluster.services), (Strings{"j-master-0", "j-worker-0"}));
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, "4");
  cluster.Settle();
  std::map<std::string, std::string> world_sizes;
  for (const auto& [name, pod] : cluster.pods) {
    for (const text::Json& env :
         *text::FindArray(Find(pod, {"spec", "containers"})->at(0), {"env"})) {
      if (GetString(env, {"name"}) == "WORLD_SIZE") world_sizes[name] = GetString(env, {"value"});
    }
  }
  EXPECT_EQ(world_sizes, (std::map<std::string, std::string>{{"j-master-0", "4"},
                                                             {"j-worker-0", "4"},
                                                             {"j-worker-1", "5"},
                                                             {"j-worker-2", "5"},
                                                             {"j-worker-3", "5"}}));
}

// O18.
TEST(Pods, AHoleInTheIndexesDoesNotHideTheSurplus) {
  FakeCluster cluster(TestJob{.workers = 3});
  cluster.Settle();
  cluster.pods.erase("j-worker-1");
  cluster.PatchJob({"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, "1");
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), (Strings{"j-master-0", "j-worker-0"}));
  EXPECT_EQ(FakeCluster::Names(cluster.services), (Strings{"j-master-0", "j-worker-0"}));
}

TEST(Pods, ATypeThatLeavesTheSpecLosesItsPods) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  text::Erase(cluster.job, {"spec", "pytorchReplicaSpecs", "Worker"});
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), (Strings{"j-master-0"}));
  EXPECT_EQ(Find(cluster.job, {"status", "replicaStatuses", "Worker"}), nullptr);
}

// O13.
TEST(Pods, WhatIsDeletedIsMadeAgain) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.pods.erase("j-worker-1");
  cluster.services.erase("j-master-0");
  const Plan plan = cluster.Step();
  ASSERT_EQ(plan.writes.size(), 2u);
  EXPECT_FALSE(plan.status);
  EXPECT_EQ(cluster.pods.size(), 3u);
  EXPECT_EQ(cluster.services.size(), 3u);
  EXPECT_EQ(cluster.Types(), "Created=True");
}

TEST(Pods, ATerminatingPodHoldsItsOwnIndexOnly) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  cluster.AllRunning();
  cluster.Settle();
  cluster.BeginDeletion("j-worker-0");
  cluster.pods.erase("j-worker-1");
  cluster.TakeEvents();
  cluster.Settle();
  EXPECT_EQ(cluster.TakeEvents(), (Strings{"Normal SuccessfulCreatePod: Created pod: j-worker-1"}));
  const std::string old = cluster.Uid("j-worker-0");
  cluster.FinishDeletions();
  cluster.Settle();
  EXPECT_NE(cluster.Uid("j-worker-0"), old);
  EXPECT_EQ(cluster.Types(), "Created=True Running=True");
}

// O13: a pod of the needed name that nobody controls.
TEST(Pods, AForeignPodIsNotTakenForOurs) {
  FakeCluster cluster(TestJob{});
  cluster.pods["j-worker-0"] = Parse(R"({"metadata":{"name":"j-worker-0","uid":"x","labels":{
      "training.kubeflow.org/job-name":"j","training.kubeflow.org/replica-type":"worker",
      "training.kubeflow.org/operator-name":"pytorchjob-controller",
      "training.kubeflow.org/replica-index":"0"}},"status":{"phase":"Running"}})");
  cluster.Step();
  EXPECT_EQ(
      std::count(cluster.events.begin(), cluster.events.end(),
                 "Warning FailedCreatePod: Error creating: pods \"j-worker-0\" already exists"),
      1);
  EXPECT_EQ(cluster.Types(), "Created=True");
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.pods), (Strings{"j-worker-0"}));
}

TEST(Pods, AssignedPortReplacesTheNumberEverywhere) {
  TestJob job;
  job.pod_template = R"({"spec":{"containers":[{"name":"pytorch","ports":[
      {"name":"pytorchjob-port","containerPort":29500},{"name":"http","containerPort":80}]}]}})";
  FakeCluster cluster(job);
  cluster.master_port = 20123;
  cluster.Settle();
  for (const char* const name : {"j-master-0", "j-worker-1"}) {
    const text::Json& container = Find(cluster.pods.at(name), {"spec", "containers"})->at(0);
    EXPECT_EQ(*Find(container, {"ports"}), Parse(R"([
        {"name":"pytorchjob-port","containerPort":20123},{"name":"http","containerPort":80}])"));
    EXPECT_EQ(Find(container, {"env"})->at(2), Parse(R"({"name":"MASTER_PORT","value":"20123"})"));
    EXPECT_EQ(*Find(cluster.services.at(name), {"spec", "ports"}),
              Parse(R"([{"name":"pytorchjob-port","port":20123},{"name":"http","port":80}])"));
  }
}

TEST(Pods, OnTheNodesNetworkOnlyRank0NamesTheChosenPort) {
  TestJob job;
  job.metadata = R"({"annotations":{"muster.dev/master-port":"20123"}})";
  job.pod_template = R"({"spec":{"hostNetwork":true,"containers":[{"name":"pytorch","ports":[
      {"name":"pytorchjob-port","containerPort":29500},{"name":"http","containerPort":80}]}]}})";
  FakeCluster cluster(job);
  cluster.Settle();
  const auto ports = [&](const char* pod) {
    return *Find(Find(cluster.pods.at(pod), {"spec", "containers"})->at(0), {"ports"});
  };
  EXPECT_EQ(ports("j-master-0"), Parse(R"([
      {"name":"pytorchjob-port","containerPort":20123},{"name":"http","containerPort":80}])"));
  for (const char* const worker : {"j-worker-0", "j-worker-1"}) {
    EXPECT_EQ(ports(worker), Parse(R"([{"name":"http","containerPort":80}])"));
  }
}

TEST(Pods, OddLabelsHarmNothing) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  for (const char* const index : {"-1", "x", "99999999999", "2147483647", ""}) {
    text::Json odd = cluster.pods.at("j-worker-0");
    const std::string name = std::string("odd-") + index;
    text::Set(odd, {"metadata", "name"}, text::Json(name));
    text::Set(odd, {"metadata", "uid"}, text::Json(name));
    text::Set(odd, {"metadata", "labels", api::kReplicaIndexLabel}, text::Json(index));
    cluster.pods[name] = odd;
  }
  cluster.Settle();
  EXPECT_FALSE(cluster.pods.contains("odd-2147483647"));
  EXPECT_EQ(cluster.pods.size(), 7u);
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_TRUE(cluster.pods.empty());
}

TEST(Pods, OfTwoThatClaimAnIndexTheOneOfTheRightNameCounts) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  text::Json twin = cluster.pods.at("j-master-0");
  text::Set(twin, {"metadata", "name"}, text::Json("a-twin"));
  text::Set(twin, {"metadata", "uid"}, text::Json("twin"));
  cluster.pods["a-twin"] = twin;
  cluster.Phase("a-twin", "Running");
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 4u);
  EXPECT_EQ(cluster.Types(), "Created=True");
  EXPECT_EQ(cluster.Counts("Master"), "a0 s0 f0");
}

}  // namespace
}  // namespace reconcile
