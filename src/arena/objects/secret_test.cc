#include <stdlib.h>

#include "arena/testing/verb_test_base.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

class SecretTest : public VerbTest {
 protected:
  SecretTest() {
    char name[] = "/tmp/muster-secret-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~SecretTest() override { (void)base::RemoveTree(folder_); }

  std::string File(const std::string& name, std::string_view content) {
    EXPECT_TRUE(
        base::WriteFileAtomic(folder_ + "/" + name, content, 0600, base::Durability::kNone));
    return folder_ + "/" + name;
  }
  Ended Secret(std::vector<std::string> args) {
    args.insert(args.begin(), "secret");
    return VerbTest::Run(args, "muster");
  }

  std::string folder_;
};

TEST_F(SecretTest, ValuesComeFromFilesAndAreNeverShown) {
  const Ended made = Secret({"create", "wandb", "KEY=@" + File("key", "tiger-1\n"),
                             "--env-file=" + File("env", "A=lion-2\n# x\nB=\n")});
  ASSERT_EQ(made.exit_code, 0) << made.log;
  EXPECT_EQ(made.out, "secret/wandb created (3 keys)\n");
  const text::Json secret = *cluster_->Find(kSecrets, "wandb");
  EXPECT_EQ(*base::Base64Decode(text::GetString(secret, {"data", "A"})), "lion-2");
  EXPECT_EQ(*base::Base64Decode(text::GetString(secret, {"data", "KEY"})), "tiger-1");
  const Ended listed = Secret({"list"});
  EXPECT_NE(listed.out.find("wandb"), std::string::npos);
  EXPECT_NE(listed.out.find("A, B, KEY"), std::string::npos) << listed.out;
  for (const Ended& ended : {made, listed}) {
    EXPECT_EQ((ended.out + ended.log).find("tiger-1"), std::string::npos);
    EXPECT_EQ((ended.out + ended.log).find("lion-2"), std::string::npos);
  }
}

TEST_F(SecretTest, AnotherOfTheNameIsReplacedOnlyWhenAsked) {
  const std::string first = File("first", "1");
  const std::string second = File("second", "2");
  ASSERT_EQ(Secret({"create", "s", "K=@" + first}).exit_code, 0);
  const Ended refused = Secret({"create", "s", "K=@" + second});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.log.find("--replace puts these values in its place"), std::string::npos);
  ASSERT_EQ(Secret({"create", "--replace", "s", "K=@" + second}).exit_code, 0);
  EXPECT_EQ(*base::Base64Decode(text::GetString(*cluster_->Find(kSecrets, "s"), {"data", "K"})),
            "2");
  EXPECT_EQ(Secret({"delete", "s"}).out, "secret/s deleted\n");
  EXPECT_FALSE(cluster_->Find(kSecrets, "s"));
  EXPECT_EQ(Secret({"delete", "s"}).exit_code, 1);
}

TEST_F(SecretTest, AJobsOwnSecretIsNotDeleted) {
  cluster_->Put(kSecrets,
                Json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"x-git-sync"}})"));
  const Ended ended = Secret({"delete", "x-git-sync"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("was not created by `muster secret create`"), std::string::npos)
      << ended.log;
  EXPECT_TRUE(cluster_->Find(kSecrets, "x-git-sync"));
}

TEST_F(SecretTest, AValueOnTheCommandLineIsRefusedAndNotRepeated) {
  for (const auto& [entry, why] :
       std::map<std::string, std::string>{{"KEY=tiger-1", "KEY=- and pass it on standard input"},
                                          {"tiger-1", "write KEY=- (from standard input)"},
                                          {"1K=-", "write KEY=- (from standard input)"}}) {
    const Ended ended = Secret({"create", "s", entry});
    EXPECT_EQ(ended.exit_code, cli::kExitUsage) << entry;
    EXPECT_NE(ended.log.find(why), std::string::npos) << ended.log;
  }
  EXPECT_EQ(Secret({"create", "s", "KEY=tiger-1"}).log.find("tiger-1"), std::string::npos);
  EXPECT_EQ(Secret({"create", "s", "A=-", "B=-"}).exit_code, cli::kExitUsage);
  EXPECT_EQ(Secret({"create", "S!", "A=-"}).exit_code, cli::kExitUsage);
  EXPECT_EQ(Secret({"create", "s"}).exit_code, cli::kExitUsage);
  EXPECT_EQ(Secret({"create", "s", "A=@" + folder_ + "/nothere"}).exit_code, 1);
  EXPECT_TRUE(cluster_->Writes().empty());
}

}  // namespace
}  // namespace arena
