#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::seconds;

class ReportTest : public VerbTest {
 protected:
  // Adds a job that was created five minutes ago and completed one minute ago, with steps of ten
  // seconds in its log.
  void PutJob() {
    text::Json job = MakeJob("base", "Succeeded", seconds(300), 1);
    text::Set(job, {"status", "completionTime"},
              text::Json(base::FormatRfc3339(clock_.Now() - seconds(60))));
    text::Set(job, {"metadata", "labels", "team"}, text::Json("vision"));
    cluster_->Put(kJobs, job);
    text::Json pod = MakePod("base", "master", 0, "Succeeded", 1);
    const auto at = [&](int ago) {
      return text::Json(base::FormatRfc3339(clock_.Now() - seconds(ago)));
    };
    text::Set(pod, {"metadata", "creationTimestamp"}, at(299));
    text::Set(pod, {"status", "startTime"}, at(280));
    text::Set(pod, {"status", "conditions"},
              text::Array{text::Object{
                  {"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", at(280)}}});
    text::Json& state = text::Find(pod, {"status", "containerStatuses"})->as_array()[0];
    text::Set(state, {"state", "terminated", "startedAt"}, at(270));
    text::Set(state, {"state", "terminated", "finishedAt"}, at(62));
    cluster_->Put(kPods, pod);
    std::string log;
    for (int step = 1; step <= 18; ++step) {
      log += base::FormatRfc3339(clock_.Now() - seconds(250 - 10 * step)) + " step " +
             std::to_string(step) + " loss 0.5\n";
    }
    cluster_->on_log = [log](const auto&) { return FakeLog{.body = log}; };
  }
};

TEST_F(ReportTest, ReportsWhereTheTimeOfARunWent) {
  PutJob();
  const Ended ended = Run({"report", "base"}, "muster");
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  for (const char* part :
       {"base (uid-base) SUCCEEDED, 4m00.000s since it was submitted, 1 attempt\n",
        "Steps: up to 18, 10 s each\n", "\nqueued ", "\nsteps ", "\nall ", "4m00.000s",
        "steps in the log of base-master-0"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << ended.out;
  }
}

TEST_F(ReportTest, SaysAsJsonWhatAddsUp) {
  PutJob();
  const Ended ended = Run({"report", "base", "-o", "json"}, "muster");
  const text::Json json = Json(ended.out);
  EXPECT_EQ(*text::GetInt(json, {"ledger", "wallMs"}), 240'000);
  EXPECT_EQ(*text::GetInt(json, {"steps", "last"}), 18);
  int64_t sum = 0;
  for (const text::Json& bucket : *text::FindArray(json, {"ledger", "buckets"})) {
    sum += *text::GetInt(bucket, {"ms"});
  }
  EXPECT_EQ(sum, 240'000);
}

TEST_F(ReportTest, AddsUpTheRunsOfATime) {
  PutJob();
  const Ended ended = Run({"report", "--since", "1d", "--by", "label=team"}, "muster");
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("team    RUNS"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("vision  1"), std::string::npos) << ended.out;
  EXPECT_EQ(Run({"report", "--since", "10s"}, "muster").out.find("base"), std::string::npos);
}

TEST_F(ReportTest, RefusesWhatItDoesNotMean) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"report", "--since", "soon"},
                                             {"report", "--since", "-1d"},
                                             {"report", "--by", "team"},
                                             {"report", "--by", "label=no good"},
                                             {"report", "base", "--since", "7d"},
                                             {"report", "base", "-o", "xml"},
                                             {"report", "a", "b"}}) {
    const Ended ended = Run(args, "muster");
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.log, "");
  }
  EXPECT_EQ(connects_, 0);
}

}  // namespace
}  // namespace arena
