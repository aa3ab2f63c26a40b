#include "local/daemon/ranks/stall_keeper.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

text::Json Pod(const std::string& phase, const std::string& owner = "job-1") {
  text::Object metadata{{"name", "a-worker-0"},
                        {"namespace", "team"},
                        {"uid", "pod-1"},
                        {"labels", text::Object{{"training.kubeflow.org/job-name", "a"}}}};
  if (!owner.empty()) {
    metadata["ownerReferences"] =
        text::Array{text::Object{{"uid", owner}, {"controller", true}, {"kind", "PyTorchJob"}}};
  }
  return text::Object{{"metadata", std::move(metadata)},
                      {"status", text::Object{{"phase", phase}}}};
}

TEST(ReadStallPod, IsOfAJobAndHasNotFailed) {
  const auto running = ReadStallPod(Pod("Running"), "/state");
  ASSERT_TRUE(running);
  EXPECT_EQ(running->job_uid, "job-1");
  EXPECT_EQ(running->job_name, "a");
  EXPECT_EQ(running->namespace_name, "team");
  EXPECT_EQ(running->folder, "/state/pods/pod-1/stacks");
  EXPECT_EQ(running->phase, StallPod::Phase::kRunning);
  EXPECT_EQ(running->began, base::Time{});
  text::Json again = Pod("Running");
  const auto since = [](const char* name, const char* time) {
    return text::Object{{"name", name},
                        {"state", text::Object{{"running", text::Object{{"startedAt", time}}}}}};
  };
  text::Set(
      again, {"status", "containerStatuses"},
      text::Array{since("side", "2026-07-30T10:00:09Z"), since("pytorch", "2026-07-30T10:00:00Z")});
  EXPECT_EQ(ReadStallPod(again, "/state")->began, base::ParseRfc3339("2026-07-30T10:00:00Z"));
  text::Set(again, {"spec", "containers"},
            text::Array{text::Object{
                {"name", "pytorch"},
                {"env", text::Array{text::Object{{"name", "PET_ON_STALL"}, {"value", "off"}}}}}});
  EXPECT_EQ(ReadStallPod(again, "/state")->policy.action, api::StallPolicy::Action::kOff);
  EXPECT_EQ(ReadStallPod(Pod("Succeeded"), "/state")->phase, StallPod::Phase::kSucceeded);
  EXPECT_EQ(ReadStallPod(Pod("Pending"), "/state")->phase, StallPod::Phase::kPending);
  EXPECT_EQ(ReadStallPod(Pod(""), "/state")->phase, StallPod::Phase::kPending);
  EXPECT_FALSE(ReadStallPod(Pod("Failed"), "/state"));
  EXPECT_FALSE(ReadStallPod(Pod("Running", ""), "/state"));
}

}  // namespace
}  // namespace local::daemon
