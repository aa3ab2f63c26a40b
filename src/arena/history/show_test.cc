#include "arena/testing/verb_test_base.h"
#include "base/file.h"

namespace arena {
namespace {

class ShowTest : public VerbTest {
 protected:
  ShowTest() {
    is_this_machine_ = false;
    std::string made = testing::TempDir() + "shown.XXXXXX";
    state_ = ::mkdtemp(made.data());
    environment_["XDG_STATE_HOME"] = state_;
    folder_ = base::Environment(environment_).StateDir() + "/runs/base";
  }
  ~ShowTest() override { EXPECT_TRUE(base::RemoveTree(state_)); }

  std::string state_, folder_;
};

TEST_F(ShowTest, CountsNoVariableTwice) {
  EXPECT_TRUE(base::MakeDirs(folder_));
  EXPECT_TRUE(base::WriteFileAtomic(
      folder_ + "/run.json",
      R"({"name": "base", "environment": {"TOKEN": "12", "LANG": "34", "EDITOR": "56"}})", 0600,
      base::Durability::kNone));
  text::Json job = MakeJob("base", "Running", std::chrono::seconds(60));
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "template"},
            Json(R"({"spec": {"containers": [{"name": "pytorch", "env": [
              {"name": "MUSTER_RUN_DIR", "value": ")" +
                 folder_ + R"(/files"},
              {"name": "TOKEN", "valueFrom": {"secretKeyRef": {
                "name": "base-environment", "key": "TOKEN"}}}]}]}})"));
  cluster_->Put(kJobs, job);
  const Ended shown = Run({"show", "base"}, "muster");
  EXPECT_EQ(shown.exit_code, 0) << shown.log;
  EXPECT_NE(shown.out.find("  TOKEN=(in a Secret of the job)\n"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("And 2 of your environment:\n  EDITOR LANG\n"), std::string::npos)
      << shown.out;
}

}  // namespace
}  // namespace arena
