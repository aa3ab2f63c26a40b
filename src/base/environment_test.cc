#include "base/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace base {
namespace {

using Values = std::map<std::string, std::string>;

TEST(Environment, EmptyIsUnset) {
  Environment environment(Values{{"A", "1"}, {"EMPTY", ""}});
  EXPECT_EQ(environment.Get("A"), "1");
  EXPECT_EQ(environment.Get("EMPTY"), std::nullopt);
  EXPECT_EQ(environment.Get("ABSENT"), std::nullopt);
  EXPECT_EQ(environment.GetOr("EMPTY", "x"), "x");
  environment.Set("EMPTY", "now");
  EXPECT_EQ(environment.Get("EMPTY"), "now");
}

TEST(Environment, DirectoriesFollowXdg) {
  const Environment plain(Values{{"HOME", "/home/u"}});
  EXPECT_EQ(plain.Home(), "/home/u");
  EXPECT_EQ(plain.ConfigDir(), "/home/u/.config/muster");
  EXPECT_EQ(plain.StateDir(), "/home/u/.local/state/muster");
  EXPECT_EQ(plain.CacheDir(), "/home/u/.cache/muster");
  const Environment xdg(Values{{"HOME", "/home/u"},
                               {"XDG_CONFIG_HOME", "/c"},
                               {"XDG_STATE_HOME", "/s"},
                               {"XDG_CACHE_HOME", "/k"}});
  EXPECT_EQ(xdg.ConfigDir(), "/c/muster");
  EXPECT_EQ(xdg.StateDir(), "/s/muster");
  EXPECT_EQ(xdg.CacheDir(), "/k/muster");
}

TEST(Environment, ARelativeDirectoryIsIgnored) {
  const Environment xdg(Values{{"HOME", "/home/u"},
                               {"XDG_CONFIG_HOME", "c"},
                               {"XDG_STATE_HOME", "./s"},
                               {"XDG_CACHE_HOME", "~/k"},
                               {"XDG_RUNTIME_DIR", "."}});
  EXPECT_EQ(xdg.ConfigDir(), "/home/u/.config/muster");
  EXPECT_EQ(xdg.StateDir(), "/home/u/.local/state/muster");
  EXPECT_EQ(xdg.CacheDir(), "/home/u/.cache/muster");
  EXPECT_EQ(xdg.RuntimeDir(), "/home/u/.local/state/muster/run");
  EXPECT_TRUE(Environment(Values{{"HOME", "home"}}).StateDir().starts_with("/"));
}

TEST(Environment, HomeIsNeverEmpty) { EXPECT_TRUE(Environment().Home().starts_with("/")); }

class RuntimeDir : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-base-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(folder_)); }
  static std::string Of(const std::string& state, const std::string& runtime) {
    return Environment(
               Values{{"HOME", "/h"}, {"XDG_STATE_HOME", state}, {"XDG_RUNTIME_DIR", runtime}})
        .RuntimeDir();
  }

  std::string folder_;
};

TEST_F(RuntimeDir, TwoStateDirectoriesNeverShareOne) {
  EXPECT_NE(Of("/a", ""), Of("/b", ""));
  EXPECT_NE(Of("/a", folder_), Of("/b", folder_));
  EXPECT_EQ(Of("/a", folder_), Of("/a", folder_));
  EXPECT_TRUE(Of("/a", folder_).starts_with(folder_ + "/muster-"));
}

TEST_F(RuntimeDir, IsInTheStateDirectoryWhereTheUsersOwnIsNotPrivate) {
  EXPECT_EQ(Of("/a", ""), "/a/muster/run");
  EXPECT_EQ(Of("/a", folder_ + "/gone"), "/a/muster/run");
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(Of("/a", folder_), "/a/muster/run");
  if (geteuid() != 0) return;
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  ASSERT_EQ(chown(folder_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(Of("/a", folder_), "/a/muster/run") << "su keeps the other user's";
}

TEST(Environment, OfProcessSeesThisProcess) {
  ASSERT_EQ(setenv("MUSTER_ENVIRONMENT_TEST", "a=b", 1), 0);
  EXPECT_EQ(Environment::OfProcess().Get("MUSTER_ENVIRONMENT_TEST"), "a=b");
  unsetenv("MUSTER_ENVIRONMENT_TEST");
}

}  // namespace
}  // namespace base
