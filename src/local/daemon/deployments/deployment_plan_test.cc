#include "local/daemon/deployments/deployment_plan.h"

#include <gtest/gtest.h>

#include "api/object.h"

namespace local::daemon {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using text::GetInt;
using text::GetString;

base::Time At(seconds since) { return *base::ParseRfc3339("2026-07-30T10:00:00Z") + since; }

text::Json Deployment(int64_t replicas = 1) {
  text::Json deployment = *text::ParseJson(R"({
    "metadata": {"name": "board", "namespace": "ns", "uid": "uid-board", "generation": 3,
      "ownerReferences": [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "job",
                           "uid": "uid-job", "controller": true}]},
    "spec": {"template": {
      "metadata": {"labels": {"app": "board"}, "annotations": {"muster.dev/python": "/py"}},
      "spec": {"containers": [{"name": "tensorboard", "image": "i"}]}}}})");
  text::Set(deployment, {"spec", "replicas"}, replicas);
  return deployment;
}

// A machine that carries out the plans.
class Machine {
 public:
  explicit Machine(text::Json deployment) : deployment_(std::move(deployment)) {}

  text::Json& deployment() { return deployment_; }
  std::vector<text::Json>& pods() { return pods_; }
  base::Time now = At(seconds(0));

  DeploymentPlan Plan() const {
    std::vector<const text::Json*> pods;
    for (const text::Json& pod : pods_) pods.push_back(&pod);
    return PlanDeployment(deployment_, pods, now);
  }
  // Returns how many pods were created; removed ones are gone at once.
  size_t Step() {
    DeploymentPlan plan = Plan();
    std::vector<std::string> gone;
    for (const text::Json* pod : plan.remove) gone.emplace_back(api::Name(*pod));
    std::erase_if(pods_, [&](const text::Json& pod) {
      return std::find(gone.begin(), gone.end(), api::Name(pod)) != gone.end();
    });
    for (text::Json& pod : plan.create) {
      text::Set(pod, {"metadata", "creationTimestamp"}, text::Json(base::FormatRfc3339(now)));
      pods_.push_back(std::move(pod));
    }
    if (plan.status) text::Set(deployment_, {"status"}, *plan.status);
    return plan.create.size();
  }
  void Run(size_t index) {
    text::Set(pods_[index], {"status"}, *text::ParseJson(R"({"phase": "Running",
      "conditions": [{"type": "Ready", "status": "True"}]})"));
  }
  void Fail(size_t index) {
    text::Set(pods_[index], {"status"}, *text::ParseJson(R"({"phase": "Failed"})"));
    text::Set(
        pods_[index], {"status", "containerStatuses"},
        text::Array{text::Object{
            {"name", "tensorboard"},
            {"state",
             {{"terminated", {{"exitCode", 137}, {"finishedAt", base::FormatRfc3339(now)}}}}}}});
  }
  int64_t Count(std::string_view key) const {
    return GetInt(deployment_, {"status", key}).value_or(0);
  }
  std::string_view Condition(std::string_view type) const {
    for (const text::Json& each : *text::FindArray(deployment_, {"status", "conditions"})) {
      if (GetString(each, {"type"}) == type) return GetString(each, {"status"});
    }
    return "";
  }

 private:
  text::Json deployment_;
  std::vector<text::Json> pods_;
};

TEST(PlanDeployment, MakesPodsOfTheTemplate) {
  Machine machine(Deployment(2));
  EXPECT_EQ(machine.Step(), 2u);
  const text::Json& pod = machine.pods()[0];
  EXPECT_TRUE(api::Name(pod).starts_with("board-"));
  EXPECT_TRUE(api::Name(pod).ends_with("-0"));
  EXPECT_EQ(api::Namespace(pod), "ns");
  EXPECT_EQ(api::Label(pod, "app"), "board");
  EXPECT_NE(api::Label(pod, kTemplateHashLabel), "");
  EXPECT_EQ(api::Annotation(pod, "muster.dev/python"), "/py");
  EXPECT_EQ(api::Annotation(pod, "muster.dev/job-uid"), "uid-job");
  EXPECT_EQ(api::ControllerUid(pod), "uid-board");
  EXPECT_EQ(GetString(*api::ControllerReference(pod), {"kind"}), "Deployment");
  EXPECT_NE(text::FindArray(pod, {"spec", "containers"}), nullptr);
  EXPECT_EQ(machine.Step(), 0u) << "and no more than it wants";
}

TEST(PlanDeployment, StatusCountsWhatIsThere) {
  Machine machine(Deployment(2));
  machine.Step();
  EXPECT_EQ(machine.Condition("Available"), "False");
  machine.Run(0);
  machine.Step();
  EXPECT_EQ(machine.Count("observedGeneration"), 3);
  EXPECT_EQ(machine.Count("replicas"), 2);
  EXPECT_EQ(machine.Count("updatedReplicas"), 2);
  EXPECT_EQ(machine.Count("readyReplicas"), 1);
  EXPECT_EQ(machine.Count("availableReplicas"), 1);
  EXPECT_EQ(machine.Count("unavailableReplicas"), 1);
  EXPECT_EQ(machine.Condition("Available"), "False");
  machine.Run(1);
  machine.Step();
  EXPECT_EQ(machine.Condition("Available"), "True");
  EXPECT_EQ(machine.Condition("Progressing"), "True");
  machine.now += seconds(60);
  EXPECT_FALSE(machine.Plan().status) << "the passage of time alone changes nothing";
}

TEST(PlanDeployment, ScalesDownFromTheEnd) {
  Machine machine(Deployment(3));
  machine.Step();
  text::Set(machine.deployment(), {"spec", "replicas"}, 1);
  machine.Step();
  ASSERT_EQ(machine.pods().size(), 1u);
  EXPECT_TRUE(api::Name(machine.pods()[0]).ends_with("-0"));
  text::Set(machine.deployment(), {"spec", "replicas"}, 0);
  machine.Step();
  EXPECT_TRUE(machine.pods().empty());
}

TEST(PlanDeployment, ReplacesWhatHasEndedLaterEachTime) {
  Machine machine(Deployment());
  machine.Step();
  for (const seconds wait : {seconds(10), seconds(20), seconds(40), seconds(80), seconds(160),
                             seconds(300), seconds(300)}) {
    machine.Fail(0);
    EXPECT_EQ(machine.Step(), 0u);
    ASSERT_TRUE(machine.Plan().look_again);
    EXPECT_EQ(*machine.Plan().look_again - machine.now, wait);
    machine.now += wait;
    const std::string name(api::Name(machine.pods()[0]));
    EXPECT_EQ(machine.Step(), 1u);
    ASSERT_EQ(machine.pods().size(), 1u);
    EXPECT_EQ(api::Name(machine.pods()[0]), name);
  }
  machine.now += minutes(10);
  machine.Fail(0);
  EXPECT_EQ(*machine.Plan().look_again - machine.now, seconds(10)) << "it ran well for a while";
}

TEST(PlanDeployment, AChangedTemplateReplacesAllOnceTheOldAreGone) {
  Machine machine(Deployment());
  machine.Step();
  machine.Run(0);
  const text::Json old = machine.pods()[0];
  text::Set(machine.deployment(), {"spec", "template", "metadata", "annotations", "again"}, "1");
  const DeploymentPlan plan = machine.Plan();
  ASSERT_EQ(plan.remove.size(), 1u);
  EXPECT_TRUE(plan.create.empty()) << "it holds the port until it has ended";
  text::Set(machine.pods()[0], {"metadata", "deletionTimestamp"}, "2026-07-30T10:00:30Z");
  EXPECT_TRUE(machine.Plan().remove.empty());
  EXPECT_TRUE(machine.Plan().create.empty());
  machine.pods().clear();
  EXPECT_EQ(machine.Step(), 1u);
  EXPECT_NE(api::Name(machine.pods()[0]), api::Name(old));
}

TEST(PlanDeployment, OneThatIsStoppedHasNoPods) {
  Machine machine(Deployment());
  machine.Step();
  api::SetAnnotation(machine.deployment(), "muster.dev/stopped", "true");
  machine.Step();
  EXPECT_TRUE(machine.pods().empty());
}

TEST(PlanDeployment, LeavesOneThatGoesOrPausesAlone) {
  Machine going(Deployment());
  text::Set(going.deployment(), {"metadata", "deletionTimestamp"}, "2026-07-30T10:00:30Z");
  EXPECT_EQ(going.Step(), 0u);
  EXPECT_FALSE(going.Plan().status);
  Machine paused(Deployment());
  text::Set(paused.deployment(), {"spec", "paused"}, true);
  EXPECT_EQ(paused.Step(), 0u);
  EXPECT_EQ(paused.Count("observedGeneration"), 3);
}

}  // namespace
}  // namespace local::daemon
