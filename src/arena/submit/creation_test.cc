// All of a job's objects or none, whatever fails and whoever else submits.
#include "arena/submit/creation.h"

#include "api/names.h"
#include "api/object.h"
#include "arena/jobs/broken_submission.h"
#include "arena/testing/verb_test_base.h"
#include "base/strings.h"

namespace arena {
namespace {

using Refusal = FakeCluster::Refusal;

// A submission with every kind of object; to the embedded cluster, which makes all of it in one
// write, and to another.
class CreationTest : public VerbTest, public testing::WithParamInterface<bool> {
 protected:
  CreationTest()
      : context_{.environment = base::Environment(environment_),
                 .clock = clock_,
                 .program = "arena",
                 .flags = {},
                 .connect = {},
                 .cluster_is_this_machine = GetParam(),
                 .cluster_namespace = "",
                 .find_user_name = {},
                 .pause = {}} {
    is_this_machine_ = GetParam();
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
    const Submission submission{"default", "tom", "i", "/logs"};
    return Creation(*client_, context_, options, submission,
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

  void RemoveAll() {
    cluster_->refuse = [](const auto&) { return std::nullopt; };
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }
  // The connection breaks before each request from number `first` on; requests that only ask do not
  // count.
  void RefuseFrom(int first) {
    cluster_->refuse = [first, count = 0](const net::HttpRequest& request) mutable {
      const bool breaks = !FakeCluster::IsDry(request) && count++ >= first;
      return breaks ? std::optional(Refusal{0, "", ""}) : std::nullopt;
    };
  }
  // What a submitter that is killed before its request number `last` leaves.
  void CreateAndDie(int last) {
    RefuseFrom(last);
    testing::internal::CaptureStderr();
    (void)Create(options_);
    testing::internal::GetCapturedStderr();
    cluster_->refuse = [](const auto&) { return std::nullopt; };
    std::optional<text::Json> job = cluster_->Find(kJobs, "pt");
    if (!job || api::Annotation(*job, api::kSubmittingAnnotation).empty()) return;
    std::string mark(api::Annotation(*job, api::kSubmittingAnnotation));
    // The same process, started at another time.
    mark.replace(mark.rfind('/'), std::string::npos, "/1");
    text::Set(*job, {"metadata", "annotations", api::kSubmittingAnnotation}, text::Json(mark));
    cluster_->Put(kJobs, *job);
  }
  // The cluster's garbage collector.
  void CollectOwned() {
    if (cluster_->Find(kJobs, "pt")) return;
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }

  Context context_;
  static constexpr size_t kObjects = 6;  // job, Secret, two ConfigMaps, Service, Deployment
  SubmitOptions options_;
};

// The n-th request fails, and what follows is as it should be.
TEST_P(CreationTest, AFailureOfAnyRequestLeavesAllOrNothing) {
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
      EXPECT_TRUE(created.has_value() || !is_past_the_last) << failing;
      EXPECT_EQ(cluster_->ObjectCount(), created ? kObjects : 0u)
          << refusal.status << " at " << failing;
      if (!created) {
        EXPECT_TRUE(created.error().message.ends_with("; the job pt was not created") ||
                    created.error().message.ends_with("`arena get pt` will tell"))
            << created.error().message;
      }
      RemoveAll();
    }
  }
}

// The server has done what it was asked, and nobody hears of it: then it has been done.
TEST_P(CreationTest, ALostAnswerIsNoFailure) {
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

// The connection is cut while the parts are on their way: the server has seen none of them.
TEST_P(CreationTest, PartsThatAreLostWithTheirConnectionAreSentAgain) {
  int count = 0;
  cluster_->refuse = [&](const net::HttpRequest& request) -> std::optional<Refusal> {
    const bool is_of_job = request.target.find("/pytorchjobs") != std::string::npos;
    const bool is_of_part = !is_of_job && !FakeCluster::IsDry(request);
    if (!is_of_part || ++count >= static_cast<int>(kObjects)) return std::nullopt;
    return Refusal{0, "", ""};
  };
  const base::Status created = Create(options_);
  EXPECT_TRUE(created) << created.error().message;
  EXPECT_EQ(cluster_->ObjectCount(), kObjects);
}

TEST_P(CreationTest, AServerThatGoesAwayIsSaidWithWhatMayBeLeft) {
  for (int last = 0; last < (GetParam() ? 1 : 3); ++last) {
    RefuseFrom(last);
    testing::internal::CaptureStderr();
    const base::Status created = Create(options_);
    const std::string log = testing::internal::GetCapturedStderr();
    ASSERT_FALSE(created);
    EXPECT_TRUE(created.error().message.ends_with(
        "; it is not known whether the job pt was created, `arena get pt` will tell"))
        << created.error().message;
    if (last > 0) {
      EXPECT_NE(log.find("the job pt could not be removed again"), std::string::npos) << log;
      EXPECT_NE(log.find("delete it with `arena delete pt`"), std::string::npos) << log;
    }
    cluster_->refuse = [](const auto&) { return std::nullopt; };
    for (const auto& [collection, name] : Everything()) cluster_->Remove(collection, name);
  }
}

// A user who may create jobs and nothing else could not remove an incomplete one.
TEST_P(CreationTest, NothingIsBegunThatTheUserMayNotComplete) {
  if (GetParam()) return;  // the embedded cluster makes all objects at once, or none
  bool may_create_jobs = true;
  cluster_->refuse = [&](const net::HttpRequest& request) -> std::optional<Refusal> {
    const bool is_of_jobs = request.target.find("/pytorchjobs") != std::string::npos;
    if (request.method == "POST" && is_of_jobs && may_create_jobs) return std::nullopt;
    return Refusal{403, "Forbidden", is_of_jobs ? "no jobs" : "no others"};
  };
  EXPECT_EQ(Create(options_).error().message,
            "create secret pt-git-sync: no others; the job pt was not created");
  may_create_jobs = false;
  EXPECT_EQ(Create(options_).error().message, "no jobs; the job pt was not created");
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_P(CreationTest, AUserWhoMayOnlyCreateGetsAWholeJob) {
  cluster_->refuse = [](const net::HttpRequest& request) {
    return request.method == "POST" ? std::nullopt
                                    : std::optional(Refusal{403, "Forbidden", "not you"});
  };
  EXPECT_TRUE(Create(options_));
  EXPECT_EQ(cluster_->ObjectCount(), kObjects);
}

// The job exists, and a user who may create jobs but not delete them is told so.
TEST_P(CreationTest, AJobThatMayNotBeRemovedAgainIsSaidToBeLeft) {
  if (GetParam()) return;
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<Refusal> {
    const bool is_of_job = request.target.find("/pytorchjobs") != std::string::npos;
    if (FakeCluster::IsDry(request) || (is_of_job && request.method != "DELETE")) {
      return std::nullopt;
    }
    return Refusal{403, "Forbidden", "over quota"};
  };
  testing::internal::CaptureStderr();
  const base::Status created = Create(options_);
  testing::internal::GetCapturedStderr();
  ASSERT_FALSE(created);
  EXPECT_TRUE(created.error().message.ends_with("; the job pt is left, and incomplete"))
      << created.error().message;
}

// Another submission of the same name comes before each request of this one.
TEST_P(CreationTest, OfTwoAtOnceOneWinsAndIsLeftAlone) {
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

TEST_P(CreationTest, WhatOthersOwnStays) {
  cluster_->Put(kServices, Json(R"({"metadata": {"name": "pt-tensorboard"}})"));
  const base::Status created = Create(options_);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().message,
            "service pt-tensorboard already exists and belongs to something else: delete it, or "
            "choose another --name; the job pt was not created");
  EXPECT_EQ(cluster_->ObjectCount(), 1u);
}

TEST_P(CreationTest, EverythingIsOwnedByTheJobFromTheStart) {
  ASSERT_TRUE(Create(options_));
  const std::vector<std::string> writes = cluster_->Writes();
  EXPECT_EQ(writes.size(), GetParam() ? 1u : kObjects + 1);
  for (size_t i = 0; i < kObjects && i < writes.size(); ++i) {
    EXPECT_TRUE(writes[i].starts_with("POST ")) << writes[i];
  }
  EXPECT_EQ(api::Annotation(*cluster_->Find(kJobs, "pt"), api::kSubmittingAnnotation), "");
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

// Before each of its requests; then the next verb finds a whole job, or none.
TEST_P(CreationTest, WhatASubmitterThatDiedLeftIsTakenBackByTheNextVerb) {
  const std::vector<std::vector<std::string>> verbs = {
      {"list"}, {"get", "pt"}, {"logs", "pt"}, {"delete", "pt"}};
  cluster_->after_write = [this](const std::string& verb, const std::string&) {
    if (verb == "DELETE") CollectOwned();
  };
  for (const std::vector<std::string>& verb : verbs) {
    bool is_whole = false;
    for (int last = 0; !is_whole; ++last) {
      CreateAndDie(last);
      is_whole = cluster_->ObjectCount() == kObjects &&
                 api::Annotation(*cluster_->Find(kJobs, "pt"), api::kSubmittingAnnotation).empty();
      const bool is_half = !is_whole && cluster_->Find(kJobs, "pt");
      const Ended ended = Run(verb);
      EXPECT_EQ(cluster_->ObjectCount(), is_whole && verb[0] != "delete" ? kObjects : 0u)
          << verb[0] << " " << last;
      if (verb[0] == "list") {
        EXPECT_EQ(
            ended.log.find("the submission of the job pt was interrupted") != std::string::npos,
            is_half)
            << ended.log;
      }
      RemoveAll();
    }
  }
}

TEST_P(CreationTest, WhatASubmitterThatDiedLeftDoesNotKeepTheName) {
  cluster_->after_write = [this](const std::string& verb, const std::string&) {
    if (verb == "DELETE") CollectOwned();
  };
  for (int last = 1; last < 4; ++last) {
    CreateAndDie(last);
    const bool is_whole = GetParam();
    EXPECT_EQ(Create(options_).has_value(), !is_whole) << last;
    EXPECT_EQ(cluster_->ObjectCount(), kObjects);
    RemoveAll();
  }
}

// A submission that is under way, on this machine or on one that nothing is known about.
TEST_P(CreationTest, ASubmissionUnderWayIsLeftAlone) {
  if (GetParam()) return;
  CreateAndDie(2);
  text::Json job = *cluster_->Find(kJobs, "pt");
  const text::Path mark = {"metadata", "annotations", api::kSubmittingAnnotation};
  text::Set(job, {"metadata", "creationTimestamp"},
            text::Json(base::FormatRfc3339(clock_.Now() - std::chrono::minutes(10))));
  for (const std::string& submitter : {SubmitterMark(), std::string("other-boot/1/2/3")}) {
    text::Set(job, mark, text::Json(submitter));
    EXPECT_FALSE(IsBrokenOff(job, clock_.Now())) << submitter;
    cluster_->Put(kJobs, job);
    EXPECT_EQ(Run({"list"}).exit_code, 0);
    EXPECT_TRUE(cluster_->Find(kJobs, "pt"));
  }
  EXPECT_TRUE(IsBrokenOff(job, clock_.Now() + std::chrono::minutes(6)));
  // Another user's is not this one's to take back.
  text::Set(job, {"metadata", "labels", "arena.kubeflow.org/uid"}, "else");
  text::Set(job, {"metadata", "creationTimestamp"}, "2020-01-01T00:00:00Z");
  cluster_->Put(kJobs, job);
  EXPECT_EQ(Run({"list"}).exit_code, 0);
  EXPECT_TRUE(cluster_->Find(kJobs, "pt"));
}

INSTANTIATE_TEST_SUITE_P(Clusters, CreationTest, testing::Bool(),
                         [](const auto& place) { return place.param ? "Embedded" : "Kubernetes"; });

}  // namespace
}  // namespace arena
