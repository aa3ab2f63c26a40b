#include "arena/submit/wait.h"

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

class SubmitWaitTest : public VerbTest {
 protected:
  // A controller: whatever is submitted runs at once and ends like this.
  void EndWith(const std::string& condition) {
    cluster_->after_write = [this, condition](const std::string& verb, const std::string& path) {
      if (verb != "POST" || path != kJobs) return;
      text::Json job = *cluster_->Find(kJobs, "pt");
      cluster_->Put(kPods, MakePod("pt", "master", 0, condition));
      text::Set(job, {"status", "conditions"},
                text::Array{text::Object{
                    {"type", condition}, {"status", "True"}, {"message", "it was so"}}});
      cluster_->Put(kJobs, job);
    };
  }
  Ended Submit(std::vector<std::string> args) {
    args.insert(args.begin(), {"submit", "pytorch", "--name=pt", "--image=i"});
    args.emplace_back("python a.py");
    return Run(args);
  }
};

TEST_F(SubmitWaitTest, WaitEndsAsTheJobDoes) {
  EndWith("Succeeded");
  const Ended good = Submit({"--wait"});
  EXPECT_EQ(good.exit_code, 0) << good.log;
  EXPECT_NE(good.log.find("The Job pt has succeeded"), std::string::npos);
  EXPECT_TRUE(good.out.ends_with("pytorchjob.kubeflow.org/pt created\n"));
}

TEST_F(SubmitWaitTest, AFailureIsAnExitCodeAndAReason) {
  EndWith("Failed");
  const Ended bad = Submit({"--wait"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.log.find("the job pt has failed: it was so"), std::string::npos) << bad.log;
}

TEST_F(SubmitWaitTest, FollowPrintsTheChiefsLogToo) {
  EndWith("Succeeded");
  std::string asked;
  cluster_->on_log = [&](const net::Target& target) {
    asked = target.segments[target.segments.size() - 2];
    FakeLog log;
    log.body = "2026-07-30T10:00:00.000000001Z accuracy=0.9\n";
    return log;
  };
  const Ended ended = Submit({"--follow"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_EQ(asked, "pt-master-0");
  EXPECT_TRUE(ended.out.ends_with("created\naccuracy=0.9\n")) << ended.out;
}

TEST_F(SubmitWaitTest, AJobThatIsDeletedEndsTheWait) {
  cluster_->after_write = [this](const std::string& verb, const std::string& path) {
    if (verb == "POST" && path == kJobs) cluster_->Remove(kJobs, "pt");
  };
  const Ended ended = Submit({"--wait"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("the job pt was deleted"), std::string::npos) << ended.log;
}

}  // namespace
}  // namespace arena
