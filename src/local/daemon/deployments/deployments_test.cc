#include "local/daemon/deployments/deployments.h"

#include <gtest/gtest.h>

#include <set>

#include "api/object.h"
#include "api/pod.h"
#include "local/node/testing/agent_fake_cluster.h"

namespace local::daemon {
namespace {

using Maybe = std::optional<text::Json>;

class DeploymentsTest : public testing::Test {
 protected:
  DeploymentsTest() : client_(cluster_.Connect()) {}

  void Start() { deployments_ = std::make_unique<Deployments>(client_, base::SystemClock()); }
  void Put(int64_t replicas) {
    cluster_.Put(
        api::kDeployments,
        text::Object{{"metadata", {{"name", "web"}, {"namespace", "ns"}, {"uid", "uid-web"}}},
                     {"spec",
                      {{"replicas", replicas},
                       {"template",
                        {{"metadata", {{"labels", {{"app", "web"}}}}},
                         {"spec", {{"containers", text::Array{text::Object{{"name", "c"}}}}}}}}}}});
  }
  // As the node agent reports.
  void SetRunning(const std::string& name) {
    text::Json pod = *cluster_.Find(api::kPods, "ns", name);
    text::Set(pod, {"status"}, *text::ParseJson(R"({"phase": "Running",
      "conditions": [{"type": "Ready", "status": "True"}]})"));
    cluster_.Put(api::kPods, pod);
  }
  bool WaitStatus(std::string_view key, int64_t count) {
    return cluster_.WaitFor(api::kDeployments, "ns", "web", [&](const Maybe& deployment) {
      return deployment && text::GetInt(*deployment, {"status", key}).value_or(0) == count;
    });
  }
  std::set<std::string> Pods() {
    std::set<std::string> names;
    for (const text::Json& pod : cluster_.List(api::kPods)) names.emplace(api::Name(pod));
    return names;
  }

  node::FakeCluster cluster_;
  cluster::Client client_;
  std::unique_ptr<Deployments> deployments_;
};

TEST_F(DeploymentsTest, KeepsItsPods) {
  Start();
  Put(2);
  ASSERT_TRUE(WaitStatus("replicas", 2));
  const std::set<std::string> pods = Pods();
  ASSERT_EQ(pods.size(), 2u);
  for (const std::string& name : pods) SetRunning(name);
  EXPECT_TRUE(WaitStatus("availableReplicas", 2));
  cluster_.Remove(api::kPods, "ns", *pods.begin());
  EXPECT_TRUE(cluster_.WaitFor(api::kPods, "ns", *pods.begin(),
                               [](const Maybe& pod) { return pod.has_value(); }));
  Put(1);
  EXPECT_TRUE(
      cluster_.WaitFor(api::kPods, "ns", *pods.rbegin(), [](const Maybe& pod) { return !pod; }));
}

TEST_F(DeploymentsTest, TakesThePodsOfAnEarlierDaemonForItsOwn) {
  Start();
  Put(1);
  ASSERT_TRUE(WaitStatus("replicas", 1));
  const std::set<std::string> pods = Pods();
  deployments_.reset();
  SetRunning(*pods.begin());
  Start();
  EXPECT_TRUE(WaitStatus("availableReplicas", 1));
  EXPECT_EQ(Pods(), pods);
}

TEST_F(DeploymentsTest, HasNoPodsOnceStoppedUntilTheNextDaemon) {
  Start();
  Put(1);
  ASSERT_TRUE(WaitStatus("replicas", 1));
  const std::string name = *Pods().begin();
  text::Json stopped = *cluster_.Find(api::kDeployments, "ns", "web");
  api::SetAnnotation(stopped, "muster.dev/stopped", "true");
  cluster_.Put(api::kDeployments, stopped);
  ASSERT_TRUE(cluster_.WaitFor(api::kPods, "ns", name, [](const Maybe& pod) { return !pod; }));
  deployments_.reset();
  Start();
  EXPECT_TRUE(
      cluster_.WaitFor(api::kPods, "ns", name, [](const Maybe& pod) { return pod.has_value(); }));
  EXPECT_EQ(api::Annotation(*cluster_.Find(api::kDeployments, "ns", "web"), "muster.dev/stopped"),
            "");
}

}  // namespace
}  // namespace local::daemon
