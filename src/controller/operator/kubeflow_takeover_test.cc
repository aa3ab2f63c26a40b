#include "controller/operator/kubeflow_takeover.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

bool Runs(const char* container) {
  text::Json pod = text::Object();
  text::Set(pod, {"spec", "containers"}, text::Array{*text::ParseJson(container)});
  return RunsPyTorchJobs(pod);
}

TEST(KubeflowOperatorWatch, IsOnlyOneThatMindsPyTorchJobs) {
  EXPECT_TRUE(RunsPyTorchJobs(text::Object()));
  EXPECT_TRUE(Runs(R"({"command": ["/manager"]})"));
  EXPECT_TRUE(Runs(R"({"args": ["--leader-elect", "--enable-scheme=PyTorchJob"]})"));
  EXPECT_TRUE(Runs(R"({"args": ["--enable-scheme=tfjob", "--enable-scheme", "pytorchjob"]})"));
  EXPECT_FALSE(Runs(R"({"args": ["--enable-scheme=tfjob", "--enable-scheme=mpijob"]})"));
  EXPECT_FALSE(Runs(R"({"command": ["/manager", "--enable-scheme", "tfjob"]})"));
  EXPECT_TRUE(Runs(R"({"args": 7, "command": [null, {}]})"));
  EXPECT_FALSE(Runs(R"({"command": ["muster", "operator"], "args": ["--leader-elect"]})"));
  EXPECT_FALSE(Runs(R"({"args": ["operator", "--enable-scheme=pytorchjob"]})"));
}

}  // namespace
}  // namespace controller
