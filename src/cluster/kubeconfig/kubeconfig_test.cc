#include "cluster/kubeconfig/kubeconfig.h"

#include <gtest/gtest.h>

namespace cluster {
namespace {

constexpr const char* kWhole = R"(
apiVersion: v1
kind: Config
current-context: dev
preferences: {}
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443
    tls-server-name: kubernetes.default
    certificate-authority-data: Q0E=
    proxy-url: http://proxy:3128
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: a}
- name: files
  cluster: {server: "https://x", certificate-authority: pki/ca.crt}
users:
- name: u
  user:
    client-certificate: /abs/c.crt
    client-key-data: S0VZ
    as: eve
    as-groups: [g1, g2]
    as-user-extra: {scopes: [a, b]}
- name: e
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/login
      args: [-v]
      env: [{name: A, value: b}]
      interactiveMode: IfAvailable
      installHint: get it
      provideClusterInfo: true
contexts:
- name: dev
  context: {cluster: c, user: u, namespace: team}
- name: other
  context: {cluster: files, user: e}
- name: nobody
  context: {cluster: files}
)";

KubeSelection Select(std::string_view text, const std::string& context = "") {
  const auto config = ParseKubeconfig(text, "/etc/kube");
  EXPECT_TRUE(config) << config.error().message;
  auto selection = SelectContext(*config, context);
  EXPECT_TRUE(selection) << selection.error().message;
  return selection ? *selection : KubeSelection();
}

TEST(Kubeconfig, ReadsTheCurrentContextWithAllThatBelongsToIt) {
  const KubeSelection chosen = Select(kWhole);
  EXPECT_EQ(chosen.context_name, "dev");
  EXPECT_EQ(chosen.namespace_name, "team");
  EXPECT_EQ(chosen.cluster.server, "https://10.0.0.1:6443");
  EXPECT_EQ(chosen.cluster.tls_server_name, "kubernetes.default");
  EXPECT_EQ(chosen.cluster.ca_data, "CA");
  EXPECT_EQ(chosen.cluster.proxy_url, "http://proxy:3128");
  EXPECT_EQ(text::GetString(chosen.cluster.exec_config, {"audience"}), "a");
  EXPECT_EQ(chosen.user.cert_file, "/abs/c.crt");
  EXPECT_EQ(chosen.user.key_data, "KEY");
  EXPECT_EQ(chosen.user.as, "eve");
  EXPECT_EQ(chosen.user.as_groups, (std::vector<std::string>{"g1", "g2"}));
  EXPECT_EQ(chosen.user.as_extra.size(), 2U);
}

TEST(Kubeconfig, TakesRelativePathsFromTheFilesFolder) {
  const KubeSelection chosen = Select(kWhole, "other");
  EXPECT_EQ(chosen.cluster.ca_file, "/etc/kube/pki/ca.crt");
  ASSERT_TRUE(chosen.user.exec);
  EXPECT_EQ(chosen.user.exec->command, "/etc/kube/./bin/login");
  EXPECT_EQ(chosen.user.exec->args, std::vector<std::string>{"-v"});
  EXPECT_TRUE(chosen.user.exec->wants_cluster_info);
  EXPECT_EQ(chosen.user.exec->interactive, ExecPlugin::Interactive::kIfAvailable);
  EXPECT_TRUE(Select(kWhole, "nobody").user_name.empty());
}

TEST(Kubeconfig, TheFirstFileToSaySomethingWins) {
  Kubeconfig merged = *ParseKubeconfig(
      "users: [{name: u, user: {token: first}}]\n"
      "contexts: [{name: a, context: {cluster: c, user: u}}]\n",
      "/one");
  MergeKubeconfig(merged,
                  *ParseKubeconfig("current-context: a\n"
                                   "users: [{name: u, user: {token: second}}]\n"
                                   "clusters: [{name: c, cluster: {server: 'https://x'}}]\n",
                                   "/two"));
  MergeKubeconfig(merged, *ParseKubeconfig("current-context: b\n", "/three"));
  const auto chosen = SelectContext(merged, "");
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->user.token, "first");
  EXPECT_EQ(chosen->cluster.server, "https://x");
}

struct Bad {
  const char* text;
  const char* error;
};

TEST(Kubeconfig, NamesTheFieldThatIsWrong) {
  const Bad cases[] = {
      {"[]", "this is not a kubeconfig"},
      {"kind: Pod", "kind: is Pod, not Config"},
      {"current-context: 5", "current-context: must be a string: quote it"},
      {"clusters: {}", "clusters: must be a list"},
      {"clusters: [7]", "clusters[0]: must be an object"},
      {"clusters: [{cluster: {}}]", "clusters[0].name: is missing"},
      {"clusters: [{name: c, cluster: {insecure-skip-tls-verify: 'yes'}}]",
       "clusters[0].cluster.insecure-skip-tls-verify: must be true or false"},
      {"clusters: [{name: c, cluster: {certificate-authority-data: '***'}}]",
       "clusters[0].cluster.certificate-authority-data: is not base64"},
      {"users: [{name: u, user: {token: 123}}]", "users[0].user.token: must be a string: quote it"},
      {"users: [{name: u, user: {as-groups: [a]}}]", "users[0].user.as: is missing"},
      {"users: [{name: u, user: {as-groups: [1]}}]",
       "users[0].user.as-groups: must be a list of strings"},
      {"users: [{name: u, user: {exec: {command: x}}}]", "users[0].user.exec.apiVersion: \"\""},
      {"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1}}}]",
       "is not known: muster speaks"},
      {"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]",
       "users[0].user.exec.command: is missing"},
      {"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "
       "x}}}]",
       "users[0].user.exec.interactiveMode: is missing"},
      {"a: [", "line "},
  };
  for (const Bad& bad : cases) {
    const auto parsed = ParseKubeconfig(bad.text, "/");
    ASSERT_FALSE(parsed) << bad.text;
    EXPECT_NE(parsed.error().message.find(bad.error), std::string::npos)
        << bad.text << ": " << parsed.error().message;
  }
}

TEST(Kubeconfig, RefusesWhatIsHuge) {
  const auto parsed = ParseKubeconfig(std::string(kMaxKubeconfigBytes + 1, ' '), "/");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, base::Code::kExhausted);
}

TEST(Kubeconfig, SaysWhatASelectionLacks) {
  const std::string cluster = "clusters: [{name: c, cluster: {server: 'https://x'}}]\n";
  const std::string context =
      "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n";
  const Bad cases[] = {
      {"", "the kubeconfig has no contexts"},
      {"contexts: [{name: a, context: {}}, {name: b, context: {}}]",
       "no current-context is set: choose one with --context, of a, b"},
      {"current-context: x\ncontexts: [{name: a, context: {}}]",
       "context \"x\" does not exist; there are: a"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: c}}]",
       "names cluster \"c\", which does not exist"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
       "clusters: [{name: c, cluster: {}}]",
       "cluster \"c\": server is missing"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
       "clusters: [{name: c, cluster: {server: 'https://x', insecure-skip-tls-verify: true, "
       "certificate-authority: f}}]",
       "insecure-skip-tls-verify cannot be combined with a certificate-authority"},
  };
  const Bad users[] = {
      {"", "names user \"u\", who does not exist"},
      {"users: [{name: u, user: {client-certificate: c}}]", "without its client-key"},
      {"users: [{name: u, user: {client-key: c}}]", "without its client-certificate"},
      {"users: [{name: u, user: {token: t, username: tom}}]", "more than one of token"},
      {"users: [{name: u, user: {auth-provider: {name: gcp}}}]", "auth-provider \"gcp\" is gone"},
  };
  const auto expect = [](const std::string& text, const char* error) {
    const auto config = ParseKubeconfig(text, "/");
    ASSERT_TRUE(config) << config.error().message;
    const auto chosen = SelectContext(*config, "");
    ASSERT_FALSE(chosen) << text;
    EXPECT_NE(chosen.error().message.find(error), std::string::npos) << chosen.error().message;
  };
  for (const Bad& bad : cases) expect(bad.text, bad.error);
  for (const Bad& bad : users) expect(cluster + context + bad.text, bad.error);
}

}  // namespace
}  // namespace cluster
