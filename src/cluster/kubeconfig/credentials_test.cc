#include "cluster/kubeconfig/credentials.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "net/tls/certificate.h"

namespace cluster {
namespace {

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() : clock_(*base::ParseRfc3339("2026-07-30T10:00:00Z")) {
    options_.selection.context_name = "ctx";
    options_.selection.user_name = "tom";
    options_.selection.cluster.server = "https://x";
    options_.run_plugin = [this](const ExecPlugin&, const std::string&, bool) {
      ++runs_;
      return base::Result<std::string>(
          R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status":
              {"token": ")" +
          plugin_token_ + R"(", "expirationTimestamp": ")" + expires_ + R"("}})");
    };
  }
  KubeUser& user() { return options_.selection.user; }
  net::Headers Impersonation() { return Credentials(options_, clock_).ImpersonationHeaders(); }
  void UsePlugin() {
    user().exec.emplace();
    user().exec->api_version = "client.authentication.k8s.io/v1";
    user().exec->command = "login";
    user().exec->interactive = ExecPlugin::Interactive::kNever;
  }

  base::FakeClock clock_;
  Credentials::Options options_;
  std::string plugin_token_ = "one";
  std::string expires_ = "2026-07-30T11:00:00Z";
  int runs_ = 0;
};

TEST_F(CredentialsTest, ShowsATokenOrAPasswordOrNothing) {
  EXPECT_EQ(Credentials(options_, clock_).Show()->authorization, "");
  user().token = "t";
  EXPECT_EQ(Credentials(options_, clock_).Show()->authorization, "Bearer t");
  user().token = "t\r\nX: y";
  EXPECT_FALSE(Credentials(options_, clock_).Show());
  user().token = "";
  user().username = "a";
  user().password = "b";
  EXPECT_EQ(Credentials(options_, clock_).Show()->authorization, "Basic YTpi");
}

TEST_F(CredentialsTest, ReadsCertificatesAgainAsTheyAge) {
  char folder[] = "/tmp/muster-cert-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string cert_file = std::string(folder) + "/crt";
  const std::string key_file = std::string(folder) + "/key";
  const std::string ca_file = std::string(folder) + "/ca";
  const auto write = [](const std::string& path, std::string_view text) {
    ASSERT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
  };
  const auto make = [](const char* name) {
    return *net::MakeAuthority(name, base::SystemClock().Now(), std::chrono::hours(1));
  };
  const net::KeyedCertificate one = make("one");
  const net::KeyedCertificate two = make("two");
  user().cert_file = cert_file;
  user().key_file = key_file;
  options_.selection.cluster.ca_file = ca_file;
  write(cert_file, one.certificate);
  write(key_file, one.key);
  write(ca_file, one.certificate);
  Credentials credentials(options_, clock_);
  const int first = credentials.Show()->generation;
  EXPECT_FALSE(credentials.HaveFilesChanged(first));

  // The other file is not replaced yet.
  write(cert_file, two.certificate);
  write(ca_file, "");
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(credentials.Show()->generation, first);
  write(key_file, two.key);
  write(ca_file, two.certificate);
  EXPECT_EQ(credentials.Show()->generation, first);
  EXPECT_TRUE(credentials.HaveFilesChanged(first));
  const auto shown = credentials.Show();
  EXPECT_EQ(shown->cert_pem, two.certificate);
  EXPECT_EQ(shown->key_pem, two.key);
  EXPECT_EQ(shown->ca_pem, two.certificate);
  EXPECT_NE(shown->generation, first);
  EXPECT_TRUE(base::RemoveTree(folder));
}

TEST_F(CredentialsTest, ReadsATokenFileAgainAsItAges) {
  char path[] = "/tmp/muster-token-XXXXXX";
  ASSERT_GE(::mkstemp(path), 0);
  user().token_file = path;
  const auto write = [&](std::string_view text) {
    ASSERT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
  };
  write("one\n");
  Credentials credentials(options_, clock_);
  const auto first = credentials.Show();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->authorization, "Bearer one");
  write("two\n");
  EXPECT_EQ(credentials.Show()->authorization, "Bearer one");
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(credentials.Show()->authorization, "Bearer two");
  // Refused: read at once. Deleted for a moment: the last one is used.
  write("three\n");
  EXPECT_TRUE(credentials.Refused(credentials.Show()->generation));
  EXPECT_EQ(credentials.Show()->authorization, "Bearer three");
  ::unlink(path);
  clock_.Advance(std::chrono::seconds(11));
  EXPECT_EQ(credentials.Show()->authorization, "Bearer three");
  EXPECT_FALSE(credentials.Refused(credentials.Show()->generation));
}

TEST_F(CredentialsTest, RunsAPluginOnceUntilItsCredentialExpires) {
  UsePlugin();
  Credentials credentials(options_, clock_);
  EXPECT_EQ(credentials.Show()->authorization, "Bearer one");
  EXPECT_EQ(credentials.Show()->authorization, "Bearer one");
  EXPECT_EQ(runs_, 1);
  clock_.Advance(std::chrono::minutes(59) + std::chrono::seconds(55));
  plugin_token_ = "two";
  expires_ = "2026-07-30T13:00:00Z";
  EXPECT_EQ(credentials.Show()->authorization, "Bearer two");
  EXPECT_EQ(runs_, 2);
}

TEST_F(CredentialsTest, RunsAPluginAgainWhenItsCredentialIsRefused) {
  UsePlugin();
  Credentials credentials(options_, clock_);
  const auto shown = credentials.Show();
  plugin_token_ = "two";
  EXPECT_TRUE(credentials.Refused(shown->generation));
  EXPECT_EQ(credentials.Show()->authorization, "Bearer two");
  // A request that was under way meanwhile can try the newer one without another run.
  EXPECT_TRUE(credentials.Refused(shown->generation));
  EXPECT_EQ(runs_, 2);
  // The same credential again does not help.
  EXPECT_FALSE(credentials.Refused(credentials.Show()->generation));
}

TEST_F(CredentialsTest, NamesThePluginInItsErrors) {
  UsePlugin();
  plugin_token_ = "";
  const auto shown = Credentials(options_, clock_).Show();
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.error().message,
            "user \"tom\": credential program \"login\": it gave neither a token nor a client "
            "certificate");
}

TEST_F(CredentialsTest, SaysWhoWasRefused) {
  user().token = "t";
  Credentials credentials(options_, clock_);
  ASSERT_TRUE(credentials.Show());
  EXPECT_EQ(credentials.WhyRefused(),
            "the server https://x does not accept the token of user \"tom\" (context \"ctx\"): log "
            "in again");
}

TEST_F(CredentialsTest, ActsAsSomebodyElse) {
  EXPECT_TRUE(Impersonation().empty());
  user().as = "eve";
  user().as_groups = {"g1", "g2"};
  user().as_extra = {{"example.org/scope", "all"}};
  EXPECT_EQ(Impersonation(), (net::Headers{{"Impersonate-User", "eve"},
                                           {"Impersonate-Group", "g1"},
                                           {"Impersonate-Group", "g2"},
                                           {"Impersonate-Extra-example.org%2Fscope", "all"}}));
}

}  // namespace
}  // namespace cluster
