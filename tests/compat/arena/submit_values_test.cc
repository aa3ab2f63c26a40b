// How submit reads its flags: S3, S4 and S5 of compat/arena.md 5.2, with the texts of 2.2.
#include "arena/testing/render_test_base.h"
#include "base/file.h"

namespace arena {
namespace {

template <typename T>
std::string ErrorOf(const base::Result<T>& result) {
  return result ? "" : result.error().message;
}

TEST(S3JobName, IsCheckedAsArenaChecksIt) {
  for (const char* name : {"a", "1a", "a-b", "0"}) EXPECT_TRUE(CheckJobName(name)) << name;
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

TEST(S4Data, IsParsedAndSorted) {
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

TEST(S4DataDir, MayNameTheContainersPath) {
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

TEST(S4Device, IsAQualifiedNameAndAQuantity) {
  EXPECT_EQ(*ParseDevices({"amd.com/gpu=1"}), (Pairs{{"amd.com/gpu", "1"}}));
  EXPECT_EQ(ErrorOf(ParseDevices({"x"})), "invalid device 'x', refer to amd.com/gpu=1");
  EXPECT_EQ(ErrorOf(ParseDevices({"a/b/c=1"})), "device name 'a/b/c' is not a qualified name");
  EXPECT_EQ(ErrorOf(ParseDevices({"nvidia.com/gpu=2"})),
            "please use '--gpus 2' instead of '--device nvidia.com/gpu=2'");
  EXPECT_EQ(ErrorOf(ParseDevices({"amd.com/gpu=x"})),
            "device value 'x' is not a valid quantity, refer to amd.com/gpu=1");
}

TEST(S4Toleration, IsWholeOrAll) {
  const auto parsed = *ParseTolerations({"k=v:NoSchedule,Equal"});
  ASSERT_EQ(parsed.size(), 1u);
  EXPECT_EQ(parsed[0].key + "|" + parsed[0].value + "|" + parsed[0].effect + "|" + parsed[0].op,
            "k|v|NoSchedule|Equal");
  const auto all = *ParseTolerations({"k=v:NoSchedule,Equal", "all", "k=w:NoSchedule,Equal"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].op, "Exists");
  for (const char* bad :
       {"gpu_node", "a=b", "a=b:NoSchedule", "=b:NoSchedule,Equal", "a=b:Never,Equal",
        "a=b:NoSchedule,Like", "a=b:NoSchedule,Exists", "a b=c:NoSchedule,Equal"}) {
    EXPECT_NE(ErrorOf(ParseTolerations({bad})).find("--toleration"), std::string::npos) << bad;
  }
}

TEST(S5GitProject, IsTheLastPartBeforeGit) {
  EXPECT_EQ(GitProject("https://h/o/r.git"), "r");
  EXPECT_EQ(GitProject("https://h/o/r/"), "r");
  EXPECT_EQ(GitProject("git@h:o/r.git"), "r");
  EXPECT_EQ(GitProject("https://h/o/my.github.io"), "my");
  EXPECT_EQ(GitProject("file:///srv/mnist-pytorch.git"), "mnist-pytorch");
  EXPECT_EQ(GitProject("git@h:r.git"), "r");
  // The repository inside of a working tree: its code is not put into a hidden folder.
  EXPECT_EQ(GitProject("/home/tom/mnist/.git"), "mnist");
  EXPECT_EQ(GitProject("file:///home/tom/mnist//.git/"), "mnist");
}

TEST_F(RenderTest, S4ConfigFile) {
  const std::string dir = testing::TempDir() + "arena-s4";
  ASSERT_TRUE(base::MakeDirs(dir));
  ASSERT_TRUE(base::WriteFileAtomic(dir + "/f", "x", 0600, base::Durability::kNone));
  const auto alone = *ReadConfigFiles({dir + "/f"}, environment_);
  EXPECT_EQ(alone[0].container_path, dir + "/f");
  EXPECT_EQ(alone[0].content, "x");
  environment_.Set("HOME", dir);
  const auto at_home = *ReadConfigFiles({"~/f:/etc/x/g"}, environment_);
  EXPECT_EQ(at_home[0].host_path, dir + "/f");
  EXPECT_EQ(at_home[0].container_path, "/etc/x/g");
  const std::pair<std::string, std::string> bad[] = {
      {"/no/such", "stat /no/such: no such file or directory"},
      {dir + "/f:rel", "the path of file in container must be absolute path"},
      {dir + "/f:/etc/", "the path of file in container must be absolute path"},
      {"/a:/b:/c",
       "invalid format for assigning config file,it should be '--config-file "
       "<host_path_file>:<container_path_file>'"},
  };
  for (const auto& [value, message] : bad) {
    EXPECT_EQ(ErrorOf(ReadConfigFiles({value}, environment_)), message);
  }
  for (const std::string& value : {dir, dir + "/f:/g", dir + "/f:/etc/a b"}) {
    EXPECT_NE(ErrorOf(ReadConfigFiles({value}, environment_)).find("--config-file"),
              std::string::npos)
        << value;
  }
}

TEST_F(RenderTest, S5ASourceWithoutAModeIsRefusedRatherThanDropped) {
  cli::FlagSet set;
  SubmitFlags flags;
  flags.Declare(set);
  flags.name = "pt";
  flags.sync_source = "https://h/o/r.git";
  EXPECT_EQ(ErrorOf(CheckSubmit(flags, {"c"}, environment_)),
            "failed to validate command args: --sync-mode should be set when --sync-source is set");
}

}  // namespace
}  // namespace arena
