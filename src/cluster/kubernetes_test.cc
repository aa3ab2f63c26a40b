#include "cluster/kubernetes.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/file.h"
#include "cluster/testing/fake_server.h"

namespace cluster {
namespace {

class KubernetesTest : public testing::Test {
 protected:
  KubernetesTest() {
    char name[] = "/tmp/muster-kube-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~KubernetesTest() override { EXPECT_TRUE(base::RemoveTree(folder_)); }
  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
    return path;
  }

  std::string folder_;
};

TEST_F(KubernetesTest, MergesTheFilesThatExist) {
  const std::string user = Write("user", "users: [{name: u, user: {tokenFile: token}}]\n");
  const std::string rest = Write("rest",
                                 "current-context: a\n"
                                 "contexts: [{name: a, context: {cluster: c, user: u}}]\n"
                                 "clusters: [{name: c, cluster: {server: 'https://x'}}]\n");
  const auto files = SplitKubeconfigList(":" + folder_ + "/absent:" + user + "::" + rest);
  EXPECT_EQ(files.size(), 3U);
  const auto chosen = FindKubernetes({files, false, ""}, {});
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->user.token_file, folder_ + "/token");
}

TEST_F(KubernetesTest, NamesTheFileThatIsMissingOrWrong) {
  const std::string absent = folder_ + "/absent";
  EXPECT_EQ(FindKubernetes({{absent}, true, ""}, {}).error().message,
            "kubeconfig: open " + absent + ": No such file or directory");
  EXPECT_EQ(FindKubernetes({{absent}, false, ""}, {}).error().message,
            "kubeconfig " + absent + ": no such file");
  const std::string wrong = Write("wrong", "users: 5\n");
  EXPECT_EQ(FindKubernetes({{wrong}, true, ""}, {}).error().message,
            "kubeconfig " + wrong + ": users: must be a list");
}

TEST_F(KubernetesTest, APodHasAServiceAccount) {
  const auto chosen = FindKubernetes({}, base::Environment({{"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                                            {"KUBERNETES_SERVICE_PORT", "6443"}}));
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->cluster.server, "https://[fd00::1]:6443");
  EXPECT_EQ(chosen->user.token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_EQ(FindKubernetes({}, {}).error().code, base::Code::kNotFound);
}

struct NameCase {
  const char* what;
  net::HttpResponse review;
  const char* name;
};

TEST(FindUserName, IsWhatTheServerSaysElseWhatTheCredentialsSay) {
  const NameCase cases[] = {
      {"reviewed", {201, {}, R"({"status": {"userInfo": {"username": "alice"}}})"}, "alice"},
      {"old server", {404, {}, "404 page not found"}, ""},
      {"nobody", {403, {}, R"({"kind": "Status", "reason": "Forbidden"})"}, ""},
  };
  for (const NameCase& c : cases) {
    FakeServer server;
    server.Queue(c.review);
    Client client(server.Connect());
    const auto name = FindUserName(client, {});
    ASSERT_TRUE(name) << c.what << name.error().message;
    EXPECT_EQ(*name, c.name) << c.what;
    EXPECT_EQ(server.Line(0), "POST /apis/authentication.k8s.io/v1/selfsubjectreviews");
  }
  FakeServer basic;
  Client unasked(basic.Connect());
  KubeSelection selection;
  selection.user.username = "bob";
  EXPECT_EQ(*FindUserName(unasked, selection), "kubecfg:basicauth:bob");
  FakeServer down;
  down.Queue({503, {}, ""});
  Client client(down.Connect());
  EXPECT_EQ(FindUserName(client, {}).error().code, base::Code::kUnavailable);
}

TEST_F(KubernetesTest, ATokensUserIsAskedForWhereThereIsNoSelfSubjectReview) {
  KubeSelection typed;
  typed.user.token = "secret";
  KubeSelection in_file;
  in_file.user.token_file = Write("token", "secret\n");
  for (const KubeSelection& selection : {typed, in_file}) {
    FakeServer server;
    server.Queue({404, {}, "404 page not found"});
    server.QueueJson(R"({"status": {"user": {"username": "system:serviceaccount:ns:tom"}}})", 201);
    Client client(server.Connect());
    EXPECT_EQ(*FindUserName(client, selection), "system:serviceaccount:ns:tom");
    EXPECT_EQ(server.Line(1), "POST /apis/authentication.k8s.io/v1/tokenreviews");
    EXPECT_EQ(text::GetString(*text::ParseJson(server.Request(1).body), {"spec", "token"}),
              "secret");
  }
}

// An audit log may keep what a request contains.
TEST(FindUserName, ATokenIsNotSentToAServerThatOnlyRefuses) {
  KubeSelection selection;
  selection.user.token = "secret";
  FakeServer server;
  server.Queue({403, {}, R"({"kind": "Status", "reason": "Forbidden"})"});
  Client client(server.Connect());
  server.QueueJson(R"({"status": {"user": {"username": "tom"}}})", 201);
  EXPECT_EQ(FindUserName(client, selection).value_or("?"), "");
}

}  // namespace
}  // namespace cluster
