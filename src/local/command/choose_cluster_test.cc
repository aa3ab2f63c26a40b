#include "local/command/choose_cluster.h"

#include <gtest/gtest.h>

namespace local::command {
namespace {

struct Case {
  const char* name;
  ClusterFlags flags;
  std::map<std::string, std::string> environment;
  std::optional<std::string> configured;
  bool has_home_kubeconfig;
  bool is_embedded;
  const char* because;
};

class ChooseClusterTest : public ::testing::TestWithParam<Case> {};

TEST_P(ChooseClusterTest, PrefersFlagThenEnvironmentThenConfigThenKubeconfig) {
  const Case& c = GetParam();
  auto values = c.environment;
  values.emplace("HOME", "/h");
  daemon::Config config;
  config.path = "/c.yaml";
  config.cluster = c.configured;
  const auto choice = ChooseCluster(c.flags, base::Environment(values), config,
                                    [&](const std::string&) { return c.has_home_kubeconfig; });
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->is_embedded, c.is_embedded);
  EXPECT_EQ(choice->because, c.because);
}

INSTANTIATE_TEST_SUITE_P(
    All, ChooseClusterTest,
    ::testing::Values(
        Case{"nothing",
             {},
             {},
             {},
             false,
             true,
             "no kubeconfig: neither KUBECONFIG nor /h/.kube/config"},
        Case{"home", {}, {}, {}, true, false, "/h/.kube/config exists"},
        Case{"kubeconfig", {}, {{"KUBECONFIG", "/a:/b"}}, {}, true, false, "KUBECONFIG=/a:/b"},
        Case{
            "config", {}, {{"KUBECONFIG", "/a"}}, "local", true, true, "cluster: local in /c.yaml"},
        Case{"environment",
             {},
             {{"MUSTER_CLUSTER", "local"}},
             "prod",
             true,
             true,
             "MUSTER_CLUSTER=local"},
        Case{"context", {}, {{"MUSTER_CLUSTER", "prod"}}, {}, false, false, "MUSTER_CLUSTER=prod"},
        Case{"flag", {true, "", ""}, {{"MUSTER_CLUSTER", "prod"}}, {}, true, true, "flag --local"},
        Case{"path",
             {false, "/k", ""},
             {{"MUSTER_CLUSTER", "local"}},
             {},
             false,
             false,
             "flag --kubeconfig /k"},
        Case{"config_flag",
             {false, "/k", "", "--config"},
             {{"KUBECONFIG", "/a"}},
             {},
             false,
             false,
             "flag --config /k"}),
    [](const auto& test) { return test.param.name; });

TEST(ChooseCluster, RefusesFlagsThatContradict) {
  EXPECT_FALSE(ChooseCluster({true, "/k", ""}, base::Environment(), {}, {}));
}

TEST(ChooseCluster, APodTalksToItsOwnClusterWhenNothingElseIsSaid) {
  const base::Environment pod({{"HOME", "/h"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
  const auto has_account = [](const std::string& path) {
    return path == "/var/run/secrets/kubernetes.io/serviceaccount/token";
  };
  const auto choice = ChooseCluster({}, pod, {}, has_account);
  ASSERT_TRUE(choice);
  EXPECT_FALSE(choice->is_embedded);
  EXPECT_EQ(choice->kubeconfig, "");
  EXPECT_EQ(choice->because, "this is a pod with a service account");
  EXPECT_TRUE(ChooseCluster({}, pod, {}, [](const std::string&) { return false; })->is_embedded);
}

TEST(ChooseCluster, AFileThatAFlagNamesMustExist) {
  const base::Environment environment({{"HOME", "/h"}, {"KUBECONFIG", "/a:/b"}});
  const auto never = [](const std::string&) { return false; };
  EXPECT_TRUE(ChooseCluster({false, "/k", ""}, environment, {}, never)->is_named_file);
  EXPECT_FALSE(ChooseCluster({}, environment, {}, never)->is_named_file);
}

}  // namespace
}  // namespace local::command
