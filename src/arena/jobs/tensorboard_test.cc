#include "arena/jobs/tensorboard.h"

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::seconds;

class TensorboardTest : public VerbTest {
 protected:
  void PutJob() { cluster_->Put(kJobs, MakeJob("pt", "Succeeded", seconds(60))); }
  void PutService() {
    cluster_->Put(kServices, Json(R"({"metadata": {"name": "pt-tensorboard", "namespace": "default",
      "labels": {"release": "pt", "role": "tensorboard"}},
      "spec": {"type": "NodePort", "ports": [{"port": 6006, "nodePort": 23457}]}})"));
    cluster_->Put(kNodes, Json(R"({"metadata": {"name": "here"}, "status": {
      "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
      "conditions": [{"type": "Ready", "status": "True"}]}})"));
  }
  static text::Json Pod(std::string_view status) {
    text::Json pod = Json(R"({"metadata": {"name": "pt-tensorboard-1-0", "namespace": "default",
      "labels": {"app": "pytorchjob", "release": "pt", "role": "tensorboard"}}})");
    text::Set(pod, {"status"}, Json(status));
    return pod;
  }
  static std::string Problem(std::string_view status) {
    return StateOfTensorboard({Pod(status)}).problem;
  }
};

constexpr const char* kReady =
    R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})";
constexpr const char* kNotInstalled = R"({"phase": "Pending", "containerStatuses": [
    {"name": "tensorboard", "state": {"waiting": {"reason": "TensorBoardNotInstalled",
                                                  "message": "install it"}}}]})";

TEST_F(TensorboardTest, SaysWhereItIsAndHowToReachItFromAfar) {
  PutJob();
  PutService();
  cluster_->Put(kPods, Pod(kReady));
  const Ended ended = Run({"tensorboard", "pt"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_TRUE(
      ended.out.starts_with("Your tensorboard will be available on:\n"
                            "http://127.0.0.1:23457\n\n"
                            "From another machine, forward its port and open "
                            "http://127.0.0.1:23457:\n"
                            "ssh -L 23457:127.0.0.1:23457 tom@"))
      << ended.out;
  const text::Json json = Json(Run({"tensorboard", "pt", "-o", "json"}).out);
  EXPECT_EQ(text::GetString(json, {"url"}), "http://127.0.0.1:23457");
  EXPECT_EQ(text::GetInt(json, {"port"}), 23457);
  EXPECT_EQ(text::GetBool(json, {"running"}), true);
  EXPECT_TRUE(text::GetString(json, {"forward"}).starts_with("ssh -L 23457:127.0.0.1:23457 tom@"));
}

TEST_F(TensorboardTest, UsesTheAddressThatTheUserCameTo) {
  PutJob();
  PutService();
  environment_["SSH_CONNECTION"] = "203.0.113.7 50000 198.51.100.4 2222";
  EXPECT_TRUE(Run({"tensorboard", "pt"})
                  .out.ends_with("\nssh -L 23457:127.0.0.1:23457 -p 2222 tom@198.51.100.4\n"));
}

TEST_F(TensorboardTest, OfAnotherClusterIsForwardedByKubectl) {
  PutJob();
  PutService();
  is_this_machine_ = false;
  EXPECT_TRUE(Run({"tensorboard", "pt"})
                  .out.ends_with("open http://127.0.0.1:6006:\n"
                                 "kubectl -n default port-forward service/pt-tensorboard 6006\n"));
}

TEST_F(TensorboardTest, AJobWithoutOneIsAnError) {
  PutJob();
  const Ended ended = Run({"tensorboard", "pt"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("the training job pt has no tensorboard: it was not submitted with "
                           "--tensorboard"),
            std::string::npos)
      << ended.log;
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(Run({"tensorboard", "absent"}).exit_code, 1);
  EXPECT_EQ(Run({"tensorboard"}).exit_code, 2);
  EXPECT_EQ(Run({"tensorboard", "pt", "-o", "xml"}).exit_code, 2);
}

TEST_F(TensorboardTest, OneThatDoesNotRunSaysWhyHereAndInGet) {
  PutJob();
  PutService();
  cluster_->Put(kPods, Pod(kNotInstalled));
  const Ended ended = Run({"tensorboard", "pt"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("the tensorboard of pt does not run: install it"), std::string::npos);
  EXPECT_TRUE(
      Run({"get", "pt"}, "muster")
          .out.ends_with("\nYour tensorboard will be available on:\nhttp://127.0.0.1:23457\n"
                         "It is not running yet: install it\n"));
  EXPECT_TRUE(
      Run({"get", "pt", "-o", "wide"}, "muster")
          .out.ends_with("  http://127.0.0.1:23457\n  It is not running yet: install it\n"));
  const Ended arenas = Run({"get", "pt", "-o", "wide"});
  EXPECT_TRUE(arenas.out.ends_with("available on: \n  http://127.0.0.1:23457\n")) << arenas.out;
  EXPECT_NE(arenas.log.find("the tensorboard is not running yet: install it"), std::string::npos);
}

TEST_F(TensorboardTest, SubmitWarnsOfOneThatCouldNotRunHere) {
  missing_tensorboard_ = "install it";
  const auto submit = [&](const std::string& name, const std::string& flag) {
    return Run({"submit", "pytorch", "--name=" + name, "--image=i", flag, "true"}).log;
  };
  const std::string warning = "the tensorboard is not running yet: install it";
  EXPECT_NE(submit("a", "--tensorboard").find(warning), std::string::npos);
  EXPECT_EQ(submit("b", "--workers=2").find(warning), std::string::npos);
  EXPECT_NE(
      Run({"submit", "pytorch", "--name=d", "--image=i", "--tensorboard", "--logdir=logs", "true"})
          .log.find("--logdir logs is relative"),
      std::string::npos);
  is_this_machine_ = false;
  EXPECT_EQ(submit("c", "--tensorboard").find(warning), std::string::npos);
}

TEST_F(TensorboardTest, DistinguishesTroubleFromAStart) {
  EXPECT_TRUE(StateOfTensorboard({Pod(kReady)}).is_running);
  EXPECT_EQ(Problem(kReady), "");
  EXPECT_EQ(Problem(kNotInstalled), "install it");
  EXPECT_EQ(Problem(R"({"phase": "Pending", "containerStatuses": [{"name": "t",
      "state": {"waiting": {"reason": "ContainerCreating"}}}]})"),
            "");
  EXPECT_EQ(Problem(R"({"phase": "Pending", "containerStatuses": [{"name": "t",
      "state": {"waiting": {"reason": "ImagePullBackOff"}}}]})"),
            "ImagePullBackOff");
  EXPECT_EQ(Problem(R"({"phase": "Running", "containerStatuses": [{"name": "t",
      "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
      "lastState": {"terminated": {"exitCode": 1, "message": "Trace:\n bad logdir\n"}}}]})"),
            "it ended with exit code 1: bad logdir; it is started again in a while");
  EXPECT_EQ(Problem(R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
      "status": "False", "message": "0/1 nodes"}]})"),
            "0/1 nodes");
  EXPECT_EQ(Problem(R"({"phase": "Failed", "reason": "ShimLost"})"), "ShimLost");
  EXPECT_FALSE(StateOfTensorboard({}).is_running);
}

}  // namespace
}  // namespace arena
