#include "reconcile/services.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

// Golden `basic`.
TEST(Services, OneHeadlessServiceAReplica) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  text::Json service = cluster.services.at("j-worker-1");
  text::Erase(service, {"metadata", "uid"});
  text::Erase(service, {"metadata", "creationTimestamp"});
  EXPECT_EQ(service, Parse(R"({"apiVersion":"v1","kind":"Service","metadata":{
      "name":"j-worker-1","namespace":"ns","labels":{"training.kubeflow.org/job-name":"j",
      "training.kubeflow.org/operator-name":"pytorchjob-controller",
      "training.kubeflow.org/replica-index":"1","training.kubeflow.org/replica-type":"worker"},
      "ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"j",
      "uid":"uid-of-j","controller":true,"blockOwnerDeletion":true}]},
      "spec":{"clusterIP":"None","ports":[{"name":"pytorchjob-port","port":23456}],
      "selector":{"training.kubeflow.org/job-name":"j",
      "training.kubeflow.org/operator-name":"pytorchjob-controller",
      "training.kubeflow.org/replica-index":"1","training.kubeflow.org/replica-type":"worker"}}})"));
}

TEST(Services, Ports) {
  struct Case {
    const char* ports;
    const char* expected;
  };
  const Case cases[] = {
      {R"([{"name":"pytorchjob-port","containerPort":29500},{"name":"http","containerPort":80}])",
       R"([{"name":"pytorchjob-port","port":29500},{"name":"http","port":80}])"},
      {R"([{"containerPort":80},{"containerPort":81},{"name":"pytorchjob-port",
           "containerPort":1}])",
       R"([{"name":"pytorchjob-port","port":1},{"name":"port-80","port":80},
           {"name":"port-81","port":81}])"},
      {R"([{"containerPort":80},{"name":"http","containerPort":80}])",
       R"([{"name":"http","port":80}])"},
      {R"([{"name":"http"},{}])", "[]"},
      {"[]", "[]"},
  };
  for (const Case& test : cases) {
    text::Json pod_template = Parse(R"({"spec":{"containers":[{"name":"pytorch"}]}})");
    text::Find(pod_template, {"spec", "containers"})->at(0).as_object()["ports"] =
        Parse(test.ports);
    EXPECT_EQ(text::Json(ServicePorts(pod_template, std::nullopt)), Parse(test.expected));
  }
}

TEST(Services, AServiceOfTheRightNameCountsWhoeverOwnsItAndIsNeverDeleted) {
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  text::Erase(cluster.services.at("j-worker-0"), {"metadata", "ownerReferences"});
  EXPECT_TRUE(cluster.Step().writes.empty());
  cluster.PatchJob({"spec", "runPolicy", "suspend"}, "true");
  cluster.Settle();
  EXPECT_EQ(FakeCluster::Names(cluster.services), (Strings{"j-worker-0"}));
}

TEST(Services, AJobFailsAtOnceWhoseRank0NoServiceCouldBeNamedAfter) {
  for (const bool has_master : {true, false}) {
    TestJob job{.has_master = has_master, .workers = 1};
    job.name = std::string(55, 'j');
    FakeCluster cluster(job);
    cluster.Settle();
    EXPECT_TRUE(cluster.pods.empty());
    EXPECT_EQ(cluster.Types(), "Created=True Failed=True");
    const std::string type = has_master ? "master" : "worker";
    EXPECT_EQ(cluster.Conditions().back(),
              "Failed=True PyTorchJobFailed: PyTorchJob " + job.name +
                  " is failed because its Service " + job.name + "-" + type +
                  "-0 would have a name of 64 characters, and 63 are possible: a job's name may "
                  "have 54.");
    EXPECT_TRUE(cluster.HasTime("completionTime"));
    ASSERT_EQ(cluster.TakeEvents().size(), 1U);
  }
}

TEST(Services, OnlyThoseAreMadeWhoseNamesArePossible) {
  TestJob job{.workers = 12};
  job.name = std::string(54, 'j');
  FakeCluster cluster(job);
  cluster.Settle();
  EXPECT_EQ(cluster.pods.size(), 13U);
  EXPECT_EQ(cluster.services.size(), 11U);
  EXPECT_FALSE(cluster.services.contains(job.name + "-worker-10"));
  const auto is_of_names = [](const std::string& event) {
    return event.starts_with("Warning FailedCreateService: ");
  };
  const Strings events = cluster.TakeEvents();
  EXPECT_EQ(std::count_if(events.begin(), events.end(), is_of_names), 1);
  EXPECT_NE(std::find(events.begin(), events.end(),
                      "Warning FailedCreateService: No service for " + job.name +
                          "-worker-10 and those after it: its name would be too long"),
            events.end());
  cluster.AllRunning();
  cluster.Settle();
  EXPECT_EQ(cluster.Types(), "Created=True Running=True");
  EXPECT_TRUE(cluster.TakeEvents().empty());
}

}  // namespace
}  // namespace reconcile
