#include "base/environment.h"

#include <gtest/gtest.h>

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

TEST(Environment, HomeIsNeverEmpty) { EXPECT_TRUE(Environment().Home().starts_with("/")); }

TEST(Environment, TwoStateDirectoriesNeverShareARuntimeDirectory) {
  const auto runtime = [](const std::string& state, const std::string& run) {
    return Environment(Values{{"HOME", "/h"}, {"XDG_STATE_HOME", state}, {"XDG_RUNTIME_DIR", run}})
        .RuntimeDir();
  };
  EXPECT_NE(runtime("/a", ""), runtime("/b", ""));
  EXPECT_NE(runtime("/a", "/run/u"), runtime("/b", "/run/u"));
  EXPECT_EQ(runtime("/a", "/run/u"), runtime("/a", "/run/u"));
  EXPECT_TRUE(runtime("/a", "/run/u").starts_with("/run/u/muster"));
  EXPECT_TRUE(runtime("/a", "").starts_with("/tmp/muster-"));
}

TEST(Environment, OfProcessSeesThisProcess) {
  ASSERT_EQ(setenv("MUSTER_ENVIRONMENT_TEST", "a=b", 1), 0);
  EXPECT_EQ(Environment::OfProcess().Get("MUSTER_ENVIRONMENT_TEST"), "a=b");
  unsetenv("MUSTER_ENVIRONMENT_TEST");
}

}  // namespace
}  // namespace base
