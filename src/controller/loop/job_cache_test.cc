#include "controller/loop/job_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "controller/loop/projection.h"

namespace controller {
namespace {

text::Json Job(const std::string& name, const std::string& uid, int version) {
  return text::Object{{"metadata", text::Object{{"name", name},
                                                {"namespace", "default"},
                                                {"uid", uid},
                                                {"resourceVersion", std::to_string(version)}}}};
}

text::Json Child(const std::string& name, const std::string& job, int version) {
  text::Json child = Job(name, "u-" + name, version);
  text::Set(child, {"metadata", "labels", api::kJobNameLabel}, text::Json(job));
  return child;
}

TEST(JobCache, IndexesChildrenByJob) {
  JobCache cache;
  EXPECT_EQ(cache.PutChild(ChildKind::kPod, Child("j-master-0", "j", 2)), "default/j");
  EXPECT_FALSE(cache.Get("default/j"));
  EXPECT_EQ(cache.PutJob(Job("j", "1", 1)), "default/j");
  EXPECT_EQ(cache.PutChild(ChildKind::kService, Child("j-master-0", "j", 3)), "default/j");
  const auto snapshot = cache.Get("default/j");
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->pods.size(), 1U);
  EXPECT_EQ(snapshot->services.size(), 1U);
}

TEST(JobCache, GivesBackAJobThatCamePacked) {
  JobCache cache;
  text::Json job = Job("j", "1", 1);
  text::Set(job, {"spec", "runPolicy", "suspend"}, text::Json(true));
  const text::Json whole = job;
  PackJob(job);
  EXPECT_EQ(cache.PutJob(std::move(job)), "default/j");
  EXPECT_EQ(*cache.Get("default/j")->job, whole);
  EXPECT_EQ(cache.PutJob(whole), "");
}

TEST(JobCache, NamesTheUnfinishedJobs) {
  JobCache cache;
  cache.PutJob(Job("runs", "1", 1));
  text::Json ended = Job("finished", "2", 2);
  text::Set(ended, {"status", "conditions"},
            text::Array{text::Object{{"type", "Failed"}, {"status", "True"}}});
  cache.PutJob(std::move(ended));
  cache.PutChild(ChildKind::kPod, Child("p", "unknown", 3));
  EXPECT_EQ(cache.KeysOfUnfinished(), std::vector<std::string>{"default/runs"});
}

TEST(JobCache, GivesBackTheChildrenOfAJobThatHasManyAsOfOneThatHasFew) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  for (int i = 0; i < 200; ++i) {
    text::Json pod = Child("j-worker-" + std::to_string(i), "j", 2 + i);
    text::Set(pod, {"spec", "nodeName"}, text::Json("node-" + std::to_string(i)));
    text::Set(pod, {"status", "phase"}, text::Json(i % 2 == 0 ? "Running" : "Failed"));
    EXPECT_EQ(cache.PutChild(ChildKind::kPod, pod), "default/j");
    EXPECT_EQ(cache.PutChild(ChildKind::kPod, pod), "");
    const auto snapshot = cache.Get("default/j");
    ASSERT_EQ(snapshot->pods.size(), static_cast<size_t>(i) + 1);
  }
  EXPECT_EQ(cache.FailedPods(), 0);
  EXPECT_EQ(cache.KeysOnNode("node-1"), std::vector<std::string>{"default/j"});
  EXPECT_EQ(cache.KeysOnNode("node-199"), std::vector<std::string>{"default/j"});
  EXPECT_TRUE(cache.KeysOnNode("node").empty());
  const auto snapshot = cache.Get("default/j");
  for (const auto& pod : snapshot->pods) {
    EXPECT_EQ(api::Uid(*pod), "u-" + std::string(api::Name(*pod)));
    EXPECT_EQ(text::GetString(*pod, {"spec", "nodeName"}),
              "node-" + std::string(api::Name(*pod)).substr(9));
  }
}

TEST(JobCache, CountsAPodThatBecomesFailedOnce) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  text::Json pod = Child("j-worker-0", "j", 2);
  cache.PutChild(ChildKind::kPod, pod);
  for (const char* const version : {"3", "4"}) {
    text::Set(pod, {"metadata", "resourceVersion"}, text::Json(version));
    text::Set(pod, {"status", "phase"}, text::Json("Failed"));
    cache.PutChild(ChildKind::kPod, pod);
    EXPECT_EQ(cache.FailedPods(), 1);
  }
}

TEST(JobCache, IgnoresNewsOlderThanWhatIsKnown) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 5));
  EXPECT_EQ(cache.PutJob(Job("j", "1", 5)), "");
  EXPECT_EQ(cache.PutJob(Job("j", "1", 4)), "");
  EXPECT_EQ(cache.PutJob(Job("j", "1", 6)), "default/j");
}

TEST(JobCache, IgnoresAnAnswerThatComesAfterTheDeletion) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  cache.RemoveChild(ChildKind::kPod, Child("j-worker-0", "j", 9));
  EXPECT_EQ(cache.PutChild(ChildKind::kPod, Child("j-worker-0", "j", 8)), "");
  EXPECT_TRUE(cache.Get("default/j")->pods.empty());
  EXPECT_EQ(cache.PutChild(ChildKind::kPod, Child("j-worker-0", "j", 10)), "default/j");
}

TEST(JobCache, ForgetsASettledJobButKnowsASuccessorOfTheSameName) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  cache.PutChild(ChildKind::kPod, Child("j-master-0", "j", 2));
  cache.Settle("default/j", Job("j", "1", 1));
  EXPECT_EQ(cache.ActiveJobs(), 0U);
  EXPECT_EQ(cache.PutJob(Job("j", "1", 1)), "");
  EXPECT_EQ(cache.PutChild(ChildKind::kPod, Child("j-master-0", "j", 4)), "");
  cache.RemoveJob(Job("j", "1", 5));
  EXPECT_EQ(cache.PutJob(Job("j", "2", 6)), "default/j");
  EXPECT_TRUE(cache.Get("default/j"));
}

TEST(JobCache, KeepsPodsApartFromServicesOfTheSameName) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  for (const ChildKind kind : {ChildKind::kPod, ChildKind::kService}) {
    cache.PutChild(kind, Child("j-master-0", "j", 2));
  }
  cache.RemoveChild(ChildKind::kPod, Child("j-master-0", "j", 3));
  EXPECT_EQ(cache.PutChild(ChildKind::kPod, Child("j-master-0", "j", 2)), "");
  EXPECT_TRUE(cache.Get("default/j")->pods.empty());
  EXPECT_EQ(cache.Get("default/j")->services.size(), 1U);
  cache.KeepChildren(ChildKind::kPod, {});
  EXPECT_EQ(cache.Get("default/j")->services.size(), 1U);
}

TEST(JobCache, KnowsAJobAgainThatWasGoneAndHasTheSameVersion) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 5));
  cache.PutChild(ChildKind::kPod, Child("j-master-0", "j", 2));
  cache.RemoveJob(Job("j", "1", 6));
  EXPECT_FALSE(cache.Get("default/j"));
  EXPECT_EQ(cache.PutJob(Job("j", "2", 5)), "default/j");
}

TEST(JobCache, ReportsWhichJobsAreGoneWhenANewListLacksThem) {
  JobCache cache;
  cache.PutJob(Job("gone", "1", 1));
  cache.PutJob(Job("settled", "2", 2));
  cache.Settle("default/settled", Job("settled", "2", 2));
  cache.PutJob(Job("again", "3", 3));
  cache.PutJob(Job("stays", "4", 4));
  EXPECT_TRUE(cache.KeepJobs({"default/gone", "default/settled", "default/again", "default/stays"})
                  .empty());
  cache.PutJob(Job("again", "5", 5));
  std::vector<std::string> gone = cache.KeepJobs({"default/again", "default/stays"});
  std::sort(gone.begin(), gone.end());
  EXPECT_EQ(gone, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_TRUE(cache.KeepJobs({"default/again", "default/stays"}).empty());
}

TEST(JobCache, AnAnswerBringsNoDeletedJobBack) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  EXPECT_EQ(cache.PutAnswer(Job("j", "1", 2)), "default/j");
  cache.RemoveJob(Job("j", "1", 4));
  EXPECT_EQ(cache.PutAnswer(Job("j", "1", 3)), "");
  EXPECT_FALSE(cache.Get("default/j"));
  cache.PutJob(Job("j", "2", 5));
  EXPECT_EQ(cache.PutAnswer(Job("j", "1", 3)), "");
  EXPECT_TRUE(cache.IsThere("default/j", "2"));
}

TEST(JobCache, LooksAgainAtASettledJobThatChanges) {
  JobCache cache;
  cache.PutJob(Job("j", "1", 1));
  cache.Settle("default/j", Job("j", "1", 1));
  EXPECT_EQ(cache.PutJob(Job("j", "1", 1)), "");
  cache.KeepJobs({"default/j"});
  EXPECT_EQ(cache.PutJob(Job("j", "1", 3)), "default/j");
  EXPECT_TRUE(cache.Get("default/j"));
  // A decision about an older version does not settle a newer one.
  cache.Settle("default/j", Job("j", "1", 2));
  EXPECT_TRUE(cache.Get("default/j"));
}

TEST(JobCache, DropsWhatARelistDoesNotName) {
  JobCache cache;
  cache.PutJob(Job("a", "1", 1));
  cache.PutJob(Job("b", "2", 2));
  const text::Json kept = Child("a-master-0", "a", 3);
  cache.PutChild(ChildKind::kPod, kept);
  cache.PutChild(ChildKind::kPod, Child("b-master-0", "b", 4));
  EXPECT_EQ(cache.KeepChildren(ChildKind::kPod, {text::Json(ChildKey(ChildKind::kPod, kept))}),
            std::vector<std::string>{"default/b"});
  EXPECT_EQ(cache.Get("default/a")->pods.size(), 1U);
  EXPECT_TRUE(cache.Get("default/b")->pods.empty());
  cache.KeepJobs({"default/b"});
  EXPECT_FALSE(cache.Get("default/a"));
  EXPECT_TRUE(cache.Get("default/b"));
}

}  // namespace
}  // namespace controller
