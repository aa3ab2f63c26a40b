#include "api/names.h"
#include "api/object.h"
#include "arena/testing/verb_test_base.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

// A job of `submit --env TOKEN` on a cluster for which no note of it is kept.
class RerunTest : public VerbTest {
 protected:
  RerunTest() {
    is_this_machine_ = false;
    environment_["TOKEN"] = "tell-nobody";
    const Ended made =
        Run({"submit", "pytorch", "--name=base", "--image=i", "--workers=2", "--env=TOKEN", "c"},
            "muster");
    EXPECT_EQ(made.exit_code, 0) << made.log;
  }
  std::string Value(const std::string& secret) {
    const auto found = cluster_->Find(kSecrets, secret);
    return found ? *base::Base64Decode(text::GetString(*found, {"data", "TOKEN"})) : "";
  }
};

TEST_F(RerunTest, TakesACopyOfTheValuesThatWereNotTyped) {
  const Ended again = Run({"rerun", "base"}, "muster");
  ASSERT_EQ(again.exit_code, 0) << again.log;
  const text::Json job = *cluster_->Find(kJobs, "base-2");
  EXPECT_EQ(text::ToJson(job).find("base-environment"), std::string::npos) << text::ToJson(job);
  EXPECT_NE(text::ToJson(job).find("base-2-environment"), std::string::npos) << text::ToJson(job);
  EXPECT_TRUE(api::Annotation(job, api::kSubmittingAnnotation).empty());
  EXPECT_EQ(Value("base-2-environment"), "tell-nobody");
  const text::Json copy = *cluster_->Find(kSecrets, "base-2-environment");
  EXPECT_EQ(api::ControllerUid(copy), "uid-base-2");
  EXPECT_EQ(api::Label(copy, "release"), "base-2");
  EXPECT_EQ(Value("base-environment"), "tell-nobody");
}

TEST_F(RerunTest, TakesThemInOneWriteOnThisMachine) {
  is_this_machine_ = true;
  const size_t before = cluster_->Writes().size();
  const Ended again = Run({"rerun", "base"}, "muster");
  ASSERT_EQ(again.exit_code, 0) << again.log;
  EXPECT_EQ(cluster_->Writes().size(), before + 1);
  EXPECT_EQ(Value("base-2-environment"), "tell-nobody");
  EXPECT_EQ(api::ControllerUid(*cluster_->Find(kSecrets, "base-2-environment")), "uid-base-2");
}

TEST_F(RerunTest, RefusesWhereTheValuesAreGone) {
  cluster_->Remove(kSecrets, "base-environment");
  const Ended again = Run({"rerun", "base"}, "muster");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.log.find("the values of TOKEN were in the Secret base-environment, which is "
                           "gone: submit base again, with --env-file or --env"),
            std::string::npos)
      << again.log;
  EXPECT_FALSE(cluster_->Find(kJobs, "base-2"));
}

TEST_F(RerunTest, TakesNoValuesOfALaterJobOfTheName) {
  text::Json secret = *cluster_->Find(kSecrets, "base-environment");
  secret.at_pointer("/metadata/ownerReferences/0/uid") = "uid-of-a-later-one";
  cluster_->Put(kSecrets, secret);
  EXPECT_EQ(Run({"rerun", "base"}, "muster").exit_code, 1);
  EXPECT_FALSE(cluster_->Find(kJobs, "base-2"));
}

TEST_F(RerunTest, LeavesNoJobWithoutItsValues) {
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.method != "POST" || !request.target.starts_with(kSecrets)) return std::nullopt;
    return FakeCluster::Refusal{403, "Forbidden", "not you"};
  };
  const Ended again = Run({"rerun", "base"}, "muster");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.log.find("create secret base-2-environment"), std::string::npos) << again.log;
  EXPECT_FALSE(cluster_->Find(kJobs, "base-2"));
}

TEST_F(RerunTest, NeedsNothingThatGoesWithTheOldJob) {
  environment_["GIT_SYNC_PASSWORD"] = "tell-nobody-else";
  const std::string path = testing::TempDir() + "rerun-conf";
  ASSERT_TRUE(base::WriteFileAtomic(path, "a: 1", 0600, base::Durability::kNone));
  const Ended made = Run({"submit", "pytorch", "--name=code", "--image=i", "--sync-mode=git",
                          "--sync-source=https://a.example/b.git", "--env=GIT_SYNC_PASSWORD",
                          "--config-file=" + path + ":/etc/x/conf", "c"},
                         "muster");
  ASSERT_EQ(made.exit_code, 0) << made.log;
  const Ended again = Run({"rerun", "code"}, "muster");
  ASSERT_EQ(again.exit_code, 0) << again.log;
  const std::string config_map = "-" + base::Md5Hex("/etc/x").substr(0, 15);
  const std::string job = text::ToJson(*text::Find(*cluster_->Find(kJobs, "code-2"), {"spec"}));
  const auto uses_map = [&job](const std::string& name) {
    return job.find(R"("configMap":{"name":")" + name + '"') != std::string::npos;
  };
  EXPECT_TRUE(uses_map("code-2" + config_map)) << job;
  EXPECT_FALSE(uses_map("code" + config_map)) << job;
  EXPECT_NE(job.find(R"("code-2-git-sync")"), std::string::npos) << job;
  EXPECT_EQ(job.find(R"("code-git-sync")"), std::string::npos) << job;
  const auto map = cluster_->Find(kConfigMaps, "code-2" + config_map);
  const auto secret = cluster_->Find(kSecrets, "code-2-git-sync");
  ASSERT_TRUE(map && secret);
  EXPECT_EQ(text::GetString(*map, {"data", "conf"}), "a: 1");
  EXPECT_EQ(api::ControllerUid(*map), "uid-code-2");
  EXPECT_EQ(api::ControllerUid(*secret), "uid-code-2");
}

TEST_F(RerunTest, RefusesWhereTheCodesPasswordIsGone) {
  environment_["GIT_SYNC_PASSWORD"] = "tell-nobody-else";
  const Ended made = Run({"submit", "pytorch", "--name=code", "--image=i", "--sync-mode=git",
                          "--sync-source=https://a.example/b.git", "--env=GIT_SYNC_PASSWORD", "c"},
                         "muster");
  ASSERT_EQ(made.exit_code, 0) << made.log;
  cluster_->Remove(kSecrets, "code-git-sync");
  const Ended again = Run({"rerun", "code"}, "muster");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.log.find("code needs the Secret code-git-sync, which was deleted with it: submit "
                           "code again"),
            std::string::npos)
      << again.log;
  EXPECT_FALSE(cluster_->Find(kJobs, "code-2"));
}

}  // namespace
}  // namespace arena
