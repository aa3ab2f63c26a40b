#include "cluster/kubeconfig/exec_plugin.h"

#include <gtest/gtest.h>

#include "text/json.h"

namespace cluster {
namespace {

constexpr const char* kApi = "client.authentication.k8s.io/v1";

ExecPlugin Shell(std::string script) {
  ExecPlugin plugin;
  plugin.api_version = kApi;
  plugin.command = "sh";
  plugin.args = {"-c", std::move(script)};
  return plugin;
}

const base::Environment kEnvironment({{"PATH", "/usr/bin:/bin"}, {"OURS", "1"}});

TEST(ExecPlugin, GetsTheClusterOnlyWhenItAsks) {
  ExecPlugin plugin = Shell("");
  KubeCluster cluster;
  cluster.server = "https://x";
  EXPECT_EQ(ExecInfo(plugin, cluster, "CA", true),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":true}})");
  plugin.wants_cluster_info = true;
  const auto info = *text::ParseJson(ExecInfo(plugin, cluster, "CA", false));
  EXPECT_EQ(text::GetString(info, {"spec", "cluster", "server"}), "https://x");
  EXPECT_EQ(text::GetString(info, {"spec", "cluster", "certificate-authority-data"}), "Q0E=");
}

TEST(ExecPlugin, ItsAnswerHasATokenOrACertificateAndATime) {
  const auto credential = ParseExecCredential(
      R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status":
          {"token": "t", "expirationTimestamp": "2026-01-02T03:04:05Z"}})",
      kApi);
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ(credential->token, "t");
  EXPECT_EQ(base::FormatRfc3339(*credential->expires), "2026-01-02T03:04:05Z");
}

TEST(ExecPlugin, SaysWhatIsWrongWithAnAnswer) {
  const auto answer = [](const std::string& status, const std::string& version = kApi) {
    return R"({"kind": "ExecCredential", "apiVersion": ")" + version + R"(", "status": )" + status +
           "}";
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "nothing at all"},
      {"token", "it printed no ExecCredential"},
      {"{}", "it printed no ExecCredential"},
      {answer("{}", "client.authentication.k8s.io/v1beta1"), "make them the same"},
      {answer("{}"), "neither a token nor a client certificate"},
      {answer(R"({"clientCertificateData": "c"})"), "without its key"},
      {answer(R"({"token": "a\r\nHost: b"})"), "contains a blank or a line end"},
      {answer(R"({"token": "t", "expirationTimestamp": "soon"})"), "not an RFC 3339 time"},
  };
  for (const auto& [text, error] : cases) {
    const auto credential = ParseExecCredential(text, kApi);
    ASSERT_FALSE(credential) << text;
    EXPECT_EQ(credential.error().code, base::Code::kUnauthenticated);
    EXPECT_NE(credential.error().message.find(error), std::string::npos)
        << credential.error().message;
  }
}

TEST(ExecPlugin, RunsWithItsEnvironmentAndNoInput) {
  ExecPlugin plugin = Shell("cat; echo $OURS $THEIRS $KUBERNETES_EXEC_INFO");
  plugin.env = {{"THEIRS", "2"}};
  const auto output = RunExecPlugin(plugin, "{}", false, kEnvironment);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(*output, "1 2 {}\n");
}

TEST(ExecPlugin, SaysHowItFailed) {
  ExecPlugin missing = Shell("");
  missing.command = "no-such-credential-program";
  missing.install_hint = "\n  Get it\n  from there\n";
  const std::pair<ExecPlugin, const char*> cases[] = {
      {missing, "it is not there, or not executable: Get it from there"},
      {Shell("exit 3"), "it failed with exit code 3"},
      {Shell("kill -9 $$"), "it was ended by signal 9"},
      {Shell("exec cat /dev/zero"), "it prints without end"},
  };
  for (const auto& [plugin, error] : cases) {
    const auto output = RunExecPlugin(plugin, "{}", false, kEnvironment);
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().message, error);
    EXPECT_EQ(output.error().code, base::Code::kUnauthenticated);
  }
}

TEST(ExecPlugin, GetsOurInputWhereItMayAndCan) {
  ExecPlugin plugin = Shell("");
  using Interactive = ExecPlugin::Interactive;
  plugin.interactive = Interactive::kNever;
  EXPECT_FALSE(*IsPluginInteractive(plugin, true));
  plugin.interactive = Interactive::kIfAvailable;
  EXPECT_TRUE(*IsPluginInteractive(plugin, true));
  EXPECT_FALSE(*IsPluginInteractive(plugin, false));
  plugin.interactive = Interactive::kAlways;
  EXPECT_TRUE(*IsPluginInteractive(plugin, true));
  EXPECT_FALSE(IsPluginInteractive(plugin, false));
}

}  // namespace
}  // namespace cluster
