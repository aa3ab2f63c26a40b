#include <gtest/gtest.h>

#include "arena/app.h"
#include "arena/submit_options.h"
#include "base/strings.h"

namespace arena {
namespace {

// Flags with their defaults.
class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    flags_.Declare(set_);
    flags_.name = "pt";
  }
  std::string Error() {
    auto checked = CheckSubmit(flags_, {"python", "a.py"}, environment_);
    if (checked) return "";
    const std::string prefix = "failed to validate command args: ";
    EXPECT_TRUE(checked.error().message.starts_with(prefix));
    return checked.error().message.substr(prefix.size());
  }
  cli::FlagSet set_;
  SubmitFlags flags_;
  base::Environment environment_{{{"HOME", "/nowhere"}}};
};

template <typename T>
std::string ErrorOf(const base::Result<T>& result) {
  return result ? "" : result.error().message;
}

TEST(JobName, IsCheckedAsArenaChecksIt) {
  for (const char* name : {"a", "1a", "a-b"}) EXPECT_TRUE(CheckJobName(name)) << name;
  EXPECT_TRUE(CheckJobName(std::string(49, 'a')));
  EXPECT_EQ(
      ErrorOf(CheckJobName(std::string(50, 'a'))),
      "the len 50 of name " + std::string(50, 'a') + " is too long, it should be less than 49");
  for (const char* name : {"A", "a.b", "-a", "a-", "a_b"}) {
    EXPECT_EQ(
        ErrorOf(CheckJobName(name)),
        "the job name must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character")
        << name;
  }
  EXPECT_EQ(ErrorOf(CheckJobName("")), "--name must be set");
}

TEST(Data, IsParsedAndSorted) {
  EXPECT_EQ(*ParseData({"b-pvc:/b", "a_pvc.1:/a"}),
            (std::vector<DataMount>{{"a_pvc.1", "/a"}, {"b-pvc", "/b"}}));
  EXPECT_EQ(*ParseData({"aa:/a:ro", "bb:/b:rw"}),
            (std::vector<DataMount>{{"aa", "/a", true}, {"bb", "/b", false}}));
  const std::pair<std::vector<std::string>, const char*> bad[] = {
      {{"x"}, "dataset x has incorrect format, should like data_name:/data0"},
      {{"xx:/a:/b"}, "dataset xx:/a:/b has incorrect format, should like data_name:/data0"},
      {{"x:/a"}, "volume name is too short, names should be at least two alphanumeric characters"},
      {{"x!:/a"},
       "\"x!\" includes invalid characters for a local volume name, only "
       "\"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are "
       "allowed. If you intended to pass a host directory, use absolute path"},
      {{"xx:/a", "xx:/b"}, "your PVC name: xx is repeated, please check it"},
      {{"xx:/"}, "invalid specification: dataDir can't be '/'"},
      {{"xx:/a:rx"}, "dataset xx:/a:rx has incorrect format, should like data_name:/data0"},
      {{"xx:ro"}, "dataset xx:ro has incorrect format, should like data_name:/data0"},
      {{"xx:rel"}, "invalid dataDir: 'rel' must be absolute"},
  };
  for (const auto& [values, message] : bad) EXPECT_EQ(ErrorOf(ParseData(values)), message);
}

TEST(DataDir, MayNameTheContainersPath) {
  const auto dirs = *ParseDataDirs({"/h", "/h1:/c1", "/h2:ro", "/h3:/c3:ro"});
  ASSERT_EQ(dirs.size(), 4u);
  EXPECT_EQ(dirs[0].container_path, "/h");
  EXPECT_EQ(dirs[1].host_path, "/h1");
  EXPECT_EQ(dirs[1].container_path, "/c1");
  EXPECT_FALSE(dirs[0].read_only || dirs[1].read_only);
  EXPECT_EQ(dirs[2].container_path, "/h2");
  EXPECT_EQ(dirs[3].container_path, "/c3");
  EXPECT_TRUE(dirs[2].read_only && dirs[3].read_only);
  EXPECT_EQ(ErrorOf(ParseDataDirs({"/a:/b:/c"})), "invalid DataDir: '/a:/b:/c'");
  EXPECT_EQ(ErrorOf(ParseDataDirs({"/a:b"})), "invalid dataDir: 'b' must be absolute");
  EXPECT_EQ(ErrorOf(ParseDataDirs({"/"})), "invalid specification: dataDir can't be '/'");
}

TEST(Device, IsAQualifiedNameAndAQuantity) {
  EXPECT_EQ(*ParseDevices({"amd.com/gpu=1"}), (Pairs{{"amd.com/gpu", "1"}}));
  EXPECT_EQ(ErrorOf(ParseDevices({"x"})), "invalid device 'x', refer to amd.com/gpu=1");
  EXPECT_EQ(ErrorOf(ParseDevices({"a/b/c=1"})), "device name 'a/b/c' is not a qualified name");
  EXPECT_EQ(ErrorOf(ParseDevices({"nvidia.com/gpu=2"})),
            "please use '--gpus 2' instead of '--device nvidia.com/gpu=2'");
  EXPECT_EQ(ErrorOf(ParseDevices({"amd.com/gpu=x"})),
            "device value 'x' is not a valid quantity, refer to amd.com/gpu=1");
}

TEST(TolerationFlag, IsWholeOrAll) {
  const auto parsed = *ParseTolerations({"k=v:NoSchedule,Equal"});
  ASSERT_EQ(parsed.size(), 1u);
  EXPECT_EQ(parsed[0].key + "|" + parsed[0].value + "|" + parsed[0].effect + "|" + parsed[0].op,
            "k|v|NoSchedule|Equal");
  const auto all = *ParseTolerations({"k=v:NoSchedule,Equal", "all", "k=w:NoSchedule,Equal"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].op, "Exists");
  for (const char* bad : {"gpu_node", "a=b", "a=b:NoSchedule", "=b:NoSchedule,Equal"}) {
    EXPECT_NE(ErrorOf(ParseTolerations({bad})).find("--toleration"), std::string::npos) << bad;
  }
}

TEST(GitProjectName, IsTheLastPartBeforeGit) {
  EXPECT_EQ(GitProject("https://h/o/r.git"), "r");
  EXPECT_EQ(GitProject("https://h/o/r/"), "r");
  EXPECT_EQ(GitProject("git@h:o/r.git"), "r");
  EXPECT_EQ(GitProject("https://h/o/my.github.io"), "my");
  EXPECT_EQ(GitProject("file:///srv/mnist-pytorch.git"), "mnist-pytorch");
}

TEST(PasswordOfUrl, IsTakenOut) {
  std::string url = "https://tom:p%40ss@h/o/r.git";
  EXPECT_EQ(TakePasswordOfUrl(url), "p@ss");
  EXPECT_EQ(url, "https://tom@h/o/r.git");
  for (std::string plain :
       {"https://h:8443/o/r@1.git", "git@h:o/r.git", "https://tom@h/r", "file:///a:b@c"}) {
    const std::string before = plain;
    EXPECT_EQ(TakePasswordOfUrl(plain), std::nullopt) << plain;
    EXPECT_EQ(plain, before);
  }
}

TEST_F(CheckTest, FindsEachBadValueInArenasWords) {
  using Change = std::function<void(SubmitFlags&)>;
  const std::pair<Change, const char*> cases[] = {
      {[](auto& f) { f.gpus = -1; }, "--gpus is invalid"},
      {[](auto& f) { f.workers = 0; },
       "--workers is invalid: it counts the master too, so it must be at least 1"},
      {[](auto& f) { f.cpu = "x"; }, "--cpu is invalid"},
      {[](auto& f) { f.memory = "1Q"; }, "--memory is invalid"},
      {[](auto& f) { f.share_memory = "-1Gi"; }, "--share-memory is invalid"},
      {[](auto& f) { f.running_timeout = std::chrono::seconds(-1); },
       "--running-timeout is invalid"},
      {[](auto& f) { f.ttl_after_finished = std::chrono::seconds(-1); },
       "--ttl-after-finished is invalid"},
      {[](auto& f) { f.nproc_per_node = "0"; }, "--nproc-per-node is invalid"},
      {[](auto& f) { f.clean_task_policy = "Some"; }, "unsupported cleanTaskPolicy Some"},
      {[](auto& f) { f.sync_mode = "git"; }, "--syncSource should be set when syncMode is set"},
      {[](auto& f) {
         f.sync_mode = "hdfs";
         f.sync_source = "x";
       },
       "Unknown sync mode: hdfs"},
      {[](auto& f) { f.model_name = "m"; },
       "model version source must be specified when registering a model version"},
      {[](auto& f) { f.env = {"A"}; }, "--env \"A\" is invalid, should like key=value"},
      {[](auto& f) { f.labels = {"A"}; }, "--label \"A\" is invalid, should like key=value"},
      {[](auto& f) { f.annotations = {"A"}; },
       "--annotation \"A\" is invalid, should like key=value"},
      {[](auto& f) { f.selectors = {"=b"}; },
       "--selector \"=b\" is invalid, should like key=value"},
      {[](auto& f) { f.config_files = {"/no/such"}; }, "stat /no/such: no such file or directory"},
      {[](auto& f) { f.config_files = {"/etc/hostname:rel"}; },
       "the path of file in container must be absolute path"},
      {[](auto& f) { f.config_files = {"/a:/b:/c"}; },
       "invalid format for assigning config file,it should be '--config-file "
       "<host_path_file>:<container_path_file>'"},
  };
  EXPECT_EQ(Error(), "");
  const SubmitFlags good = flags_;
  for (const auto& [change, message] : cases) {
    flags_ = good;
    change(flags_);
    EXPECT_EQ(Error(), message);
  }
}

TEST_F(CheckTest, TheNameIsLookedAtFirstAndNumbersLast) {
  flags_.name = "A";
  flags_.data = {"x"};
  flags_.gpus = -1;
  EXPECT_TRUE(Error().starts_with("the job name must"));
  flags_.name = "a";
  EXPECT_TRUE(Error().starts_with("dataset x"));
  flags_.data.clear();
  EXPECT_EQ(Error(), "--gpus is invalid");
}

TEST_F(CheckTest, ThePasswordLeavesTheEnvironment) {
  flags_.sync_mode = "git";
  flags_.sync_source = "https://h/r.git";
  flags_.env = {"GIT_SYNC_USERNAME=tom", "GIT_SYNC_PASSWORD=secret", "GIT_SYNC_COLOUR=red",
                "GIT_SYNC_BRANCH=b"};
  const SubmitOptions options = *CheckSubmit(flags_, {"c"}, environment_);
  EXPECT_EQ(options.git_password, "secret");
  EXPECT_FALSE(options.env.contains("GIT_SYNC_PASSWORD"));
  EXPECT_EQ(base::Join(options.flags.env, " ").find("secret"), std::string::npos);
  EXPECT_EQ(
      options.warnings,
      (std::vector<std::string>{"GIT_SYNC_COLOUR is not a variable that the code sync knows"}));
}

TEST(ArenaConfig, IsKeysAndValues) {
  const auto config =
      ParseArenaConfig("# comment\n namespace = team \nimagePullSecrets=a, b\nx\nurl=a=b\n");
  EXPECT_EQ(config.at("namespace"), "team");
  EXPECT_EQ(config.at("url"), "a=b");
  EXPECT_EQ(config.size(), 3u);
}

}  // namespace
}  // namespace arena
