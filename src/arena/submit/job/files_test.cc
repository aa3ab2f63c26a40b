#include "arena/submit/job/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "arena/submit/job/options.h"
#include "base/file.h"

namespace arena {
namespace {

using Entries = std::vector<std::string>;

TEST(EnvFile, IsReadAsDockerReadsIt) {
  base::Environment here;
  here.Set("HERE", "mine");
  const auto read = [&](std::string_view text) { return ParseEnvFile(text, here); };
  EXPECT_EQ(*read("A=1\n# no\n\n  B= two  words \r\nC=\"x\"\nD=\nHERE\nABSENT\nE=a=b"),
            (Entries{"A=1", "B= two  words ", "C=\"x\"", "D=", "HERE=mine", "E=a=b"}));
  EXPECT_EQ(*read("\xEF\xBB\xBF"
                  "A=1"),
            Entries{"A=1"});
  EXPECT_EQ(*read(""), Entries{});
  for (const char* text : {"A=1\nhush-4711 word\n", "A=1\n=hush-4711\n", "A=1\n1X=hush-4711"}) {
    const auto refused = read(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message,
              "line 2 should be like NAME=VALUE, or NAME for the value that it has here");
  }
  EXPECT_TRUE(read("export A=1").error().message.ends_with(", without the word export"));
}

TEST(GitCredentials, AreLinesOfAHelperOrOfGitsStore) {
  const std::string source = "https://git.example/team/r.git";
  const auto read = [&](std::string_view text) -> std::string {
    const auto found = ParseGitCredentials(text, source);
    return found ? found->user + " " + found->password : found.error().message;
  };
  EXPECT_EQ(read("username=tom\npassword=p=q w\n"), "tom p=q w");
  EXPECT_EQ(read("protocol=https\nhost=git.example\nusername=tom\r\npassword=x\r\n"), "tom x");
  EXPECT_EQ(read("password=x\n"), " x");
  EXPECT_EQ(read("https://ann:a@other\nhttps://tom:p%40ss%3D@git.example\n"), "tom p@ss=");
  EXPECT_EQ(read("https://tom:a@GIT.example/\nhttps://eve:b@git.example"), "tom a");
  EXPECT_EQ(read("http://tom:a@git.example\nhttps://tom:b@git.example:8443"),
            "--git-credentials is invalid: it has no line for https://git.example");
  for (const char* text : {"", "hush-4711", "https://git.example"}) {
    EXPECT_EQ(
        read(text),
        "--git-credentials is invalid: it should hold username= and password= lines, or git's "
        "https://git.example, with user:password@ before the host");
  }
  const auto of_tom = ParseGitCredentials("https://ann:a@h\nhttps://tom:b@h\n", "https://tom@h/r");
  EXPECT_EQ(of_tom->password, "b");
}

class SecretFiles : public testing::Test {
 protected:
  SecretFiles() {
    flags_.Declare(set_);
    flags_.name = "pt";
    folder_ = "/tmp/muster-files-XXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    environment_.Set("HOME", folder_);
  }
  ~SecretFiles() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  void Write(const std::string& name, std::string_view text, unsigned mode = 0600) {
    ASSERT_TRUE(base::WriteFileAtomic(folder_ + "/" + name, text, mode, base::Durability::kNone));
  }
  base::Result<SubmitOptions> Check() { return CheckSubmit(flags_, {"c"}, environment_); }
  std::string Error() {
    const auto checked = Check();
    return checked ? "" : checked.error().message;
  }

  cli::FlagSet set_;
  SubmitFlags flags_;
  base::Environment environment_;
  std::string folder_;
};

TEST_F(SecretFiles, VariablesOfAFileComeBeforeThoseThatAreTyped) {
  Write("env", "A=file\nB=file\nGIT_SYNC_PASSWORD=hush\n");
  flags_.env_files = {"~/env"};
  flags_.env = {"B=typed"};
  flags_.sync_mode = "git";
  flags_.sync_source = "https://h/r.git";
  const auto options = Check();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->env, (std::map<std::string, std::string>{{"A", "file"}, {"B", "typed"}}));
  EXPECT_EQ(options->code_secrets.password, "hush");
  EXPECT_EQ(options->warnings, Entries{});
  flags_.env_files = {"~/absent"};
  EXPECT_NE(Error().find("--env-file is invalid: open " + folder_ + "/absent: No such file"),
            std::string::npos)
      << Error();
}

TEST_F(SecretFiles, AVariableWithoutAValueIsTheCallers) {
  flags_.env = {"MINE", "B=typed"};
  environment_.Set("MINE", "a=b");
  const auto options = Check();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->env.at("MINE"), "a=b");
  flags_.env = {"ABSENT"};
  EXPECT_NE(Error().find("--env \"ABSENT\" is invalid, should like key=value"), std::string::npos);
}

TEST_F(SecretFiles, CredentialsAreKeptAsTheSecret) {
  Write("git", "https://tom:hush@h\n", 0644);
  flags_.git_credentials = "~/git";
  EXPECT_NE(Error().find("--git-credentials is only for --sync-mode=git and a source over http"),
            std::string::npos);
  flags_.sync_mode = "git";
  flags_.sync_source = "https://h/r.git";
  const auto options = Check();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->code_secrets.password, "hush");
  EXPECT_EQ(options->code_env.at("GIT_SYNC_USERNAME"), "tom");
  EXPECT_EQ(options->warnings, Entries{"--git-credentials " + folder_ +
                                       "/git can be read by others (mode 644): `chmod "
                                       "600 " +
                                       folder_ + "/git` makes it private"});
  flags_.env = {"GIT_SYNC_PASSWORD=x"};
  EXPECT_NE(Error().find("--git-credentials and GIT_SYNC_PASSWORD say the same"),
            std::string::npos);
  flags_.env.clear();
  flags_.sync_source = "https://tom:x@h/r.git";
  EXPECT_NE(Error().find("--git-credentials and --sync-source say the same"), std::string::npos);
}

}  // namespace
}  // namespace arena
