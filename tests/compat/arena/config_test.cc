// S9, S10: where settings come from, and the names made from hashes.
#include "arena/testing/verb_test_base.h"
#include "base/file.h"
#include "base/strings.h"
#include "local/command/choose_cluster.h"

namespace arena {
namespace {

TEST(S9, TheConfigurationFileIsReadLineByLine) {
  const auto values = ParseArenaConfig(
      "# a comment\n"
      "  namespace = team \n"
      "\n"
      "imagePullSecrets=a,b\n"
      "prometheus_token=abc=def==\n"
      "no equals sign\n"
      "   # namespace=other\n"
      "prometheus_address=http://10.0.0.1:9090");
  const std::map<std::string, std::string> expected = {
      {"namespace", "team"},
      {"imagePullSecrets", "a,b"},
      {"prometheus_token", "abc=def=="},
      {"prometheus_address", "http://10.0.0.1:9090"}};
  EXPECT_EQ(values, expected);
}

TEST(S9, TheNamespaceIsTheFlagsThenTheFilesThenTheContextsThenDefault) {
  const std::string home = testing::TempDir() + "muster-compat-home";
  ASSERT_TRUE(base::MakeDirs(home + "/.arena"));
  ASSERT_TRUE(base::WriteFileAtomic(home + "/.arena/config", "namespace=file\n", 0600,
                                    base::Durability::kNone));
  base::FakeClock clock{base::Time{}};
  struct Case {
    const char* name;
    std::string home, flag, context, result;
  };
  const Case cases[] = {
      {"flag", home, "flag", "context", "flag"},
      {"file", home, "", "context", "file"},
      {"context", "/nowhere", "", "context", "context"},
      {"nothing", "/nowhere", "", "", "default"},
  };
  for (const Case& c : cases) {
    Context context{.environment = base::Environment({{"HOME", c.home}}),
                    .clock = clock,
                    .program = "arena",
                    .flags = {},
                    .connect = {},
                    .cluster_is_this_machine = false,
                    .cluster_namespace = c.context,
                    .find_user_name = {},
                    .pause = {}};
    context.flags.namespace_name = c.flag;
    EXPECT_EQ(context.Namespace(), c.result) << c.name;
  }
}

TEST(S9, ARENA_CONFIGGoesBeforeTheFileOfTheHome) {
  const std::string home = testing::TempDir() + "muster-compat-home2";
  ASSERT_TRUE(base::MakeDirs(home + "/.arena"));
  ASSERT_TRUE(base::WriteFileAtomic(home + "/.arena/config", "namespace=home\n", 0600,
                                    base::Durability::kNone));
  ASSERT_TRUE(
      base::WriteFileAtomic(home + "/named", "namespace=named\n", 0600, base::Durability::kNone));
  const auto read = [&](const std::string& named) {
    return ReadArenaConfig(base::Environment({{"HOME", home}, {"ARENA_CONFIG", named}}));
  };
  EXPECT_EQ(read(home + "/named").at("namespace"), "named");
  EXPECT_EQ(read(home + "/absent").at("namespace"), "home");
}

TEST(S9, TheKubeconfigIsTheFlagsThenTheEnvironmentsThenTheHomes) {
  using local::command::ChooseCluster;
  struct Case {
    const char* name;
    std::string flag, environment;
    bool has_home_file;
    std::string kubeconfig;  // "" is the embedded cluster
  };
  const Case cases[] = {
      {"flag", "/flag", "/env", true, "/flag"},
      {"environment", "", "/env", true, "/env"},
      {"home", "", "", true, "/home/tom/.kube/config"},
      {"tilde", "~/config", "", true, "/home/tom/config"},
      {"tildes", "", "~/a:/b:~/c", true, "/home/tom/a:/b:/home/tom/c"},
      {"nothing", "", "", false, ""},
  };
  for (const Case& c : cases) {
    const auto choice =
        ChooseCluster({false, c.flag, ""},
                      base::Environment({{"HOME", "/home/tom"}, {"KUBECONFIG", c.environment}}), {},
                      [&](const std::string& path) {
                        return path == "/home/tom/.kube/config" ? c.has_home_file : true;
                      });
    ASSERT_TRUE(choice) << c.name;
    EXPECT_EQ(choice->is_embedded, c.kubeconfig.empty()) << c.name;
    EXPECT_EQ(choice->kubeconfig, c.kubeconfig) << c.name;
  }
}

TEST(S10, NamesAreMadeOfMd5) {
  // md5sum of the words.
  EXPECT_EQ(base::Md5Hex("system:serviceaccount:ns:tom"), "5560403db6de071442b3f103e6d0f3bd");
  EXPECT_EQ(base::Md5Hex("/etc/config").substr(0, 15), "a9cbad1b8719778");
}

}  // namespace
}  // namespace arena
