#include "local/node/code/git_sync.h"

#include <gtest/gtest.h>

namespace local::node {
namespace {

using Submodules = GitSyncSettings::Submodules;

TEST(GitSync, HasGitSyncsDefaults) {
  const auto settings = ParseGitSync({{"GIT_SYNC_REPO", "https://host/team/mnist-pytorch.git"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->dest, "mnist-pytorch");
  EXPECT_EQ(settings->branch, "");
  EXPECT_EQ(settings->revision, "");
  EXPECT_EQ(settings->depth, 0);
  EXPECT_EQ(settings->submodules, Submodules::kRecursive);
  EXPECT_EQ(settings->timeout, std::chrono::seconds(120));
  EXPECT_EQ(settings->max_failures, 0);
  EXPECT_TRUE(settings->checks_known_hosts);
  EXPECT_TRUE(settings->warnings.empty());
}

TEST(GitSync, ReadsEveryVariable) {
  const auto settings = ParseGitSync({{"GIT_SYNC_REPO", "git@host:team/x.git"},
                                      {"GIT_SYNC_DEST", "code"},
                                      {"GIT_SYNC_ROOT", "/code"},
                                      {"GIT_SYNC_ONE_TIME", "true"},
                                      {"GIT_SYNC_BRANCH", "dev"},
                                      {"GIT_SYNC_REV", "v1.0"},
                                      {"GIT_SYNC_DEPTH", "3"},
                                      {"GIT_SYNC_USERNAME", "ann"},
                                      {"GIT_SYNC_PASSWORD", "s3cret"},
                                      {"GIT_SYNC_SSH", "true"},
                                      {"GIT_SSH_KEY_FILE", "/keys/id"},
                                      {"GIT_KNOWN_HOSTS", "false"},
                                      {"GIT_SSH_KNOWN_HOSTS_FILE", "/keys/known"},
                                      {"GIT_SYNC_SUBMODULES", "off"},
                                      {"GIT_SYNC_TIMEOUT", "30"},
                                      {"GIT_SYNC_WAIT", "0.5"},
                                      {"GIT_SYNC_MAX_FAILURES", "-1"},
                                      {"GIT_SYNC_BRANCH", "main"}});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->dest, "code");
  EXPECT_EQ(settings->branch, "main");  // the later entry wins
  EXPECT_EQ(settings->revision, "v1.0");
  EXPECT_EQ(settings->depth, 3);
  EXPECT_EQ(settings->username, "ann");
  EXPECT_EQ(settings->password, "s3cret");
  EXPECT_TRUE(settings->uses_ssh);
  EXPECT_EQ(settings->ssh_key_file, "/keys/id");
  EXPECT_FALSE(settings->checks_known_hosts);
  EXPECT_EQ(settings->submodules, Submodules::kOff);
  EXPECT_EQ(settings->timeout, std::chrono::seconds(30));
  EXPECT_EQ(settings->retry_wait, std::chrono::milliseconds(500));
  EXPECT_EQ(settings->max_failures, -1);
  EXPECT_TRUE(settings->warnings.empty());
}

TEST(GitSync, WarnsOfWhatItDoesNotKnow) {
  const auto settings = ParseGitSync({{"GIT_SYNC_REPO", "file:///r.git"},
                                      {"GIT_SYNC_BRANHC", "dev"},
                                      {"GIT_AUTHOR_NAME", "ann"},
                                      {"GIT_SYNC_WEBHOOK_URL", ""}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->warnings,
            std::vector<std::string>{"warning: GIT_SYNC_BRANHC has no effect here"});
}

TEST(GitSync, RefusesValuesThatItCannotRead) {
  const std::pair<const char*, const char*> cases[] = {
      {"GIT_SYNC_DEPTH", "-1"},
      {"GIT_SYNC_DEPTH", "many"},
      {"GIT_SYNC_SSH", "yes"},
      {"GIT_SYNC_SUBMODULES", "x"},
      {"GIT_SYNC_TIMEOUT", "soon"},
      {"GIT_SYNC_DEST", "a/b"},
      {"GIT_SYNC_DEST", ".."},
      {"GIT_SYNC_REV", "--upload-pack=x"},
      {"GIT_SYNC_REPO", "--upload-pack=x"},
  };
  for (const auto& [name, value] : cases) {
    const auto settings = ParseGitSync({{"GIT_SYNC_REPO", "file:///r.git"}, {name, value}});
    ASSERT_FALSE(settings) << name << "=" << value;
    EXPECT_TRUE(settings.error().message.starts_with(name)) << settings.error().message;
  }
  EXPECT_EQ(ParseGitSync({}).error().message, "GIT_SYNC_REPO is not set");
}

TEST(GitSync, NamesTheCheckoutAfterTheRepository) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://h/a/b.git", "b"}, {"https://h/a/b/", "b"}, {"git@h:b.git", "b"},
      {"file:///srv/b", "b"},     {"/srv/b.git/", "b"},
  };
  for (const auto& [repo, dest] : cases) {
    EXPECT_EQ(ParseGitSync({{"GIT_SYNC_REPO", repo}})->dest, dest);
  }
}

TEST(GitSync, TellsSshWhatToTrust) {
  GitSyncSettings settings;
  EXPECT_EQ(SshCommand(settings), "ssh -o BatchMode=yes");
  settings.ssh_key_file = "/my keys/id";
  settings.known_hosts_file = "/k";
  EXPECT_EQ(SshCommand(settings),
            "ssh -o BatchMode=yes -o IdentitiesOnly=yes -i '/my keys/id' "
            "-o StrictHostKeyChecking=yes -o " +
                std::string("UserKnownHostsFile=/k"));
  settings.checks_known_hosts = false;
  EXPECT_EQ(SshCommand(settings),
            "ssh -o BatchMode=yes -o IdentitiesOnly=yes -i '/my keys/id' "
            "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null");
}

TEST(GitSync, ThePasswordIsForOneHost) {
  EXPECT_EQ(CredentialScope("https://ann:pw@Host:8443/x.git"), "https://Host:8443");
  EXPECT_EQ(CredentialScope("HTTP://h/x"), "http://h");
  EXPECT_EQ(CredentialScope("ssh://git@h/x"), "");
  EXPECT_EQ(CredentialScope("git@h:x"), "");
  EXPECT_EQ(CredentialScope("/srv/x"), "");
}

TEST(GitSync, TheUrlMayNameTheUser) {
  EXPECT_EQ(UserOfUrl("https://ann@h/x.git"), "ann");
  EXPECT_EQ(UserOfUrl("https://a%40b:pw@h:8443/x@y"), "a@b");
  for (const char* url : {"https://h/x@y", "git@h:x", "/srv/x"})
    EXPECT_EQ(UserOfUrl(url), "") << url;
}

TEST(GitSync, ScrubsSecrets) {
  EXPECT_EQ(Scrub("fatal: for 'https://ann:p%40w@host/x.git/'", ""),
            "fatal: for 'https://host/x.git/'");
  EXPECT_EQ(Scrub("https://a:b@h1/ and https://c@h2:8/x@y", ""),
            "https://h1/ and https://h2:8/x@y");
  EXPECT_EQ(Scrub("the password hunter2 is hunter2.", "hunter2"), "the password *** is ***.");
  EXPECT_EQ(Scrub("https://a:p@ss@host/", ""), "https://host/");
  EXPECT_EQ(Scrub("nothing here", ""), "nothing here");
  EXPECT_EQ(Scrub("://", ""), "://");
  EXPECT_EQ(Scrub("**", "*"), "******");
}

}  // namespace
}  // namespace local::node
