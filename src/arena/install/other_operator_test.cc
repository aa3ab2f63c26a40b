#include "arena/install/other_operator.h"

#include <gtest/gtest.h>

#include "text/json.h"

namespace arena {
namespace {

text::Json TheirDeployment(std::string_view container, int replicas = 1) {
  text::Json deployment = text::Object{};
  text::Set(deployment, {"spec", "replicas"}, replicas);
  text::Set(deployment, {"spec", "template", "spec", "containers"},
            text::Array{*text::ParseJson(container)});
  return deployment;
}

std::string TheirContainer(const text::Json& deployment) {
  return text::ToJson(
      text::FindArray(deployment, {"spec", "template", "spec", "containers"})->front());
}

TEST(OtherOperator, RunsPyTorchJobsUnlessItsFlagsSayOtherwise) {
  EXPECT_TRUE(RunsPyTorchJobs(TheirDeployment(R"({"command":["/manager"]})")));
  EXPECT_FALSE(RunsPyTorchJobs(TheirDeployment(R"({"command":["/manager"]})", 0)));
  EXPECT_FALSE(RunsPyTorchJobs(
      TheirDeployment(R"({"command":["/manager"],"args":["--enable-scheme=TFJob"]})")));
  EXPECT_TRUE(RunsPyTorchJobs(
      TheirDeployment(R"({"command":["/manager","--enable-scheme","PyTorchJob"]})")));
  EXPECT_TRUE(RunsPyTorchJobs(TheirDeployment(R"({"args":[7]})")));
}

TEST(OtherOperator, GoesOnWithTheOtherKinds) {
  text::Json all = TheirDeployment(R"({"command":["/manager"],"args":["--zap-devel"]})");
  LeaveToIt({"tfjob", "mpijob"}, all);
  EXPECT_EQ(TheirContainer(all),
            R"({"command":["/manager"],"args":["--zap-devel","--enable-scheme=mpijob",)"
            R"("--enable-scheme=tfjob"]})");
  EXPECT_FALSE(RunsPyTorchJobs(all));

  text::Json some = TheirDeployment(
      R"({"command":["/manager","--enable-scheme","pytorchjob"],"args":["--enable-scheme=tfjob"]})");
  LeaveToIt({"tfjob", "mpijob"}, some);
  EXPECT_EQ(TheirContainer(some), R"({"command":["/manager"],"args":["--enable-scheme=tfjob"]})");

  text::Json only = TheirDeployment(R"({"args":["--enable-scheme=pytorchjob"]})");
  LeaveToIt({"tfjob"}, only);
  EXPECT_EQ(text::GetInt(only, {"spec", "replicas"}), 0);
  text::Json alone = TheirDeployment(R"({"command":["/manager"]})");
  LeaveToIt({}, alone);
  EXPECT_FALSE(RunsPyTorchJobs(alone));
}

TEST(OtherOperator, ItsWebhookForgetsPyTorchJobsAlone) {
  text::Json configuration =
      *text::ParseJson(R"({"webhooks":[{"name":"validator.tfjob.training-operator.kubeflow.org"},)"
                       R"({"name":"validator.pytorchjob.training-operator.kubeflow.org"}]})");
  EXPECT_TRUE(HasPyTorchWebhook(configuration));
  ErasePyTorchWebhook(configuration);
  EXPECT_EQ(text::ToJson(configuration),
            R"({"webhooks":[{"name":"validator.tfjob.training-operator.kubeflow.org"}]})");
  EXPECT_FALSE(HasPyTorchWebhook(configuration));
  text::Json none = text::Object{};
  ErasePyTorchWebhook(none);
  EXPECT_FALSE(HasPyTorchWebhook(none));
}

}  // namespace
}  // namespace arena
