// All of a job's objects or none, whatever fails and whoever else submits.
#include "arena/creation.h"

#include "arena/verb_test_base.h"
#include "base/strings.h"

namespace arena {
namespace {

using Refusal = FakeCluster::Refusal;

// A submission with every kind of object.
class CreationTest : public VerbTest {
 protected:
  CreationTest() {
    cli::FlagSet set;
    SubmitFlags flags;
    flags.Declare(set);
    flags.name = "pt";
    flags.sync_mode = "git";
    flags.sync_source = "https://h/r.git";
    flags.env = {"GIT_SYNC_PASSWORD=mine"};
    flags.tensorboard = true;
    flags.config_files = {"/etc/passwd:/etc/x/passwd"};
    options_ = *CheckSubmit(flags, {"c"}, base::Environment());
  }

  base::Status Create(const SubmitOptions& options) {
    return Creation(*client_, options, {"default", "tom", "i", "/logs"}, "arena",
                    [](const text::Json&) { return false; })
        .Run();
  }
  static SubmitOptions WithPassword(SubmitOptions options, const std::string& password) {
    options.code_secrets.password = password;
    return options;
  }
  std::string PasswordThere() {
    const auto secret = cluster_->Find(kSecrets, "pt-git-sync");
    return secret ? *base::Base64Decode(text::GetString(*secret, {"data", "password"})) : "";
  }

  static std::vector<std::pair<std::string, std::string>> Everything() {
    return {{kJobs, "pt"},
            {kSecrets, "pt-git-sync"},
            {kConfigMaps, "pt-pytorchjob"},
            {kConfigMaps, "pt-" + base::Md5Hex("/etc/x").substr(0, 15)},
            {kServices, "pt-tensorboard"},
            {kDeployments, "pt-tensorboard"}};
  }

  static constexpr size_t kObjects = 6;  // job, Secret, two ConfigMaps, Service, Deployment
  SubmitOptions options_;
};

// The n-th request fails, and what follows is as it should be.
TEST_F(CreationTest, AFailureOfAnyRequestLeavesAllOrNothing) {
  const Refusal refusals[] = {{500, "InternalError", "disk full"},
                              {403, "Forbidden", "not you"},
                              {503, "ServiceUnavailable", "later"},
                              {0, "", ""}};
  for (const Refusal& refusal : refusals) {
    bool is_past_the_last = false;
    for (int failing = 0; !is_past_the_last; ++failing) {
      int count = 0;
      cluster_->refuse = [&](const net::HttpRequest&) -> std::optional<Refusal> {
        return count++ == failing ? std::optional(refusal) : std::nullopt;
      };
      testing::internal::CaptureStderr();
      const base::Status created = Create(options_);
      testing::internal::GetCapturedStderr();
      is_past_the_last = count <= failing;
      EXPECT_EQ(created.has_value(), is_past_the_last) << refusal.status << " at " << failing;
      EXPECT_EQ(cluster_->ObjectCount(), is_past_the_last ? kObjects : 0u)
          << refusal.status << " at " << failing;
    }
    cluster_->refuse = [](const auto&) { return std::nullopt; };
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }
}

// The server has done what it was asked, and nobody hears of it: then it has been done.
TEST_F(CreationTest, ALostAnswerIsNoFailure) {
  bool is_past_the_last = false;
  for (int lost = 0; !is_past_the_last; ++lost) {
    int count = 0;
    cluster_->loses_answer = [&](const net::HttpRequest&) { return count++ == lost; };
    EXPECT_TRUE(Create(options_)) << lost;
    EXPECT_EQ(cluster_->ObjectCount(), kObjects) << lost;
    is_past_the_last = count <= lost;
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }
}

TEST_F(CreationTest, AServerThatGoesAwayIsSaidWithWhatMayBeLeft) {
  for (int last = 0; last < 3; ++last) {
    int count = 0;
    cluster_->refuse = [&](const net::HttpRequest&) -> std::optional<Refusal> {
      return count++ >= last ? std::optional(Refusal{0, "", ""}) : std::nullopt;
    };
    testing::internal::CaptureStderr();
    const base::Status created = Create(options_);
    const std::string log = testing::internal::GetCapturedStderr();
    ASSERT_FALSE(created);
    if (last == 0) {
      EXPECT_NE(created.error().message.find("whether the job pt was made is not known, `arena get "
                                             "pt` will tell"),
                std::string::npos)
          << created.error().message;
    } else {
      EXPECT_NE(log.find("the job pt could not be taken back"), std::string::npos) << log;
      EXPECT_NE(log.find("delete it with `arena delete pt`"), std::string::npos) << log;
    }
    cluster_->refuse = [](const auto&) { return std::nullopt; };
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }
}

// Another submission of the same name comes before each request of this one.
TEST_F(CreationTest, OfTwoAtOnceOneWinsAndIsLeftAlone) {
  const SubmitOptions theirs = WithPassword(options_, "theirs");
  const std::string taken =
      "the job pt is already exist, please delete it first. use 'arena delete pt'";
  bool is_past_the_last = false;
  for (int meeting = 0; !is_past_the_last; ++meeting) {
    int count = 0;
    std::optional<base::Status> other;
    cluster_->refuse = [&](const net::HttpRequest&) -> std::optional<Refusal> {
      if (count++ == meeting) {
        other = base::Status();
        other = Create(theirs);
      }
      return std::nullopt;
    };
    const base::Status mine = Create(options_);
    is_past_the_last = !other;
    if (other) {
      EXPECT_NE(mine.has_value(), other->has_value()) << meeting;
      EXPECT_EQ((mine ? *other : mine).error().message, taken) << meeting;
    }
    EXPECT_EQ(PasswordThere(), mine ? "mine" : "theirs") << meeting;
    EXPECT_EQ(cluster_->ObjectCount(), kObjects) << meeting;
    cluster_->refuse = [](const auto&) { return std::nullopt; };
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }
}

TEST_F(CreationTest, WhatOthersOwnStays) {
  cluster_->Put(kServices, Json(R"({"metadata": {"name": "pt-tensorboard"}})"));
  const base::Status created = Create(options_);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().message,
            "service pt-tensorboard already exists and belongs to something else: delete it, or "
            "choose another --name");
  EXPECT_EQ(cluster_->ObjectCount(), 1u);
}

TEST_F(CreationTest, EverythingIsOwnedByTheJobFromTheStart) {
  ASSERT_TRUE(Create(options_));
  for (const std::string& write : cluster_->Writes()) EXPECT_TRUE(write.starts_with("POST "));
  for (const auto& [collection, name] : Everything()) {
    if (collection == kJobs) continue;
    EXPECT_EQ(text::GetString(text::FindArray(*cluster_->Find(collection, name),
                                              {"metadata", "ownerReferences"})
                                  ->front(),
                              {"uid"}),
              "uid-pt")
        << collection;
  }
}

}  // namespace
}  // namespace arena
