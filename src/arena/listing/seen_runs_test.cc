#include "arena/listing/seen_runs.h"

#include <stdlib.h>

#include <filesystem>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

class SeenRunsTest : public VerbTest {
 protected:
  SeenRunsTest() {
    char path[] = "/tmp/muster-seen-XXXXXX";
    folder_ = ::mkdtemp(path);
    environment_["XDG_STATE_HOME"] = folder_;
  }
  ~SeenRunsTest() override { std::filesystem::remove_all(folder_); }

  SeenRuns Seen() {
    Context context = MakeContext();
    context.cluster_server = "https://far";
    return SeenRuns(context);
  }

  // A job that was submitted from here, as the cluster answered.
  text::Json Submitted() {
    text::Json job = MakeJob("base", "", std::chrono::seconds(60));
    text::Set(job, {"metadata", "resourceVersion"}, "1");
    text::Set(job, {"metadata", "annotations", api::kSnapshotAnnotation}, "12ab");
    text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "template"},
              Json(R"({"spec": {"containers": [{"name": "pytorch", "command": ["true"]}]}})"));
    return job;
  }

  static text::Json Listed(const text::Json& job) {
    return *text::ParsePart(text::ToJson(job), api::SummarizedJobParts());
  }

  std::string folder_;
};

TEST_F(SeenRunsTest, AListRenewsTheStatusAndLeavesTheRestWhole) {
  const text::Json job = Submitted();
  Seen().Remember(job, text::Object{{"name", "base"}});
  text::Json ended = job;
  text::Set(ended, {"status"},
            Json(R"({"conditions": [{"type": "Succeeded", "status": "True"}]})"));
  text::Set(ended, {"metadata", "resourceVersion"}, "2");
  clock_.Advance(std::chrono::seconds(5));
  Seen().RenewStatus(Listed(ended));
  auto run = Seen().Find(api::Uid(job));
  ASSERT_TRUE(run);
  EXPECT_EQ(text::ToJson(*text::Find(run->job, {"status"})),
            text::ToJson(*text::Find(ended, {"status"})));
  EXPECT_EQ(text::ToJson(*text::Find(run->job, {"spec"})),
            text::ToJson(*text::Find(job, {"spec"})));
  EXPECT_EQ(api::Annotation(run->job, api::kSnapshotAnnotation), "12ab");
  EXPECT_EQ(text::GetString(run->note, {"name"}), "base");
  EXPECT_EQ(run->seen, clock_.Now());

  // A look at the whole job still finds that it has changed.
  Seen().Renew(ended, {MakePod("base", "master", 0, "Succeeded")});
  run = Seen().Find(api::Uid(job));
  EXPECT_EQ(text::GetString(run->job, {"metadata", "resourceVersion"}), "2");
  EXPECT_EQ(run->pods.size(), 1u);
}

TEST_F(SeenRunsTest, AListThatSaysNothingNewIsNotWritten) {
  const text::Json job = Submitted();
  Seen().Remember(job, nullptr);
  const base::Time seen = clock_.Now();
  clock_.Advance(std::chrono::seconds(5));
  Seen().RenewStatus(Listed(job));
  EXPECT_EQ(Seen().Find(api::Uid(job))->seen, seen);
}

TEST_F(SeenRunsTest, JobsOfOthersAreNotRemembered) {
  Seen().RenewStatus(Listed(Submitted()));
  EXPECT_TRUE(Seen().List("").empty());
}

}  // namespace
}  // namespace arena
