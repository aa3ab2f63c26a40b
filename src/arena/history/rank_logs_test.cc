#include "arena/history/rank_logs.h"

#include <algorithm>

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

class RankLogsTest : public VerbTest {
 protected:
  RankLogsTest() {
    cluster_->Put(kJobs, MakeJob("pt", "Running", std::chrono::seconds(5)));
    cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
    cluster_->Put(kPods, MakePod("pt", "worker", 0, "Running"));
    cluster_->on_log = [this](const net::Target& target) {
      const std::string instance = target.segments[target.segments.size() - 2];
      asked_.push_back(instance);
      for (const auto& [key, value] : target.query) {
        if (key == "sinceTime") asked_.back() += " since " + value;
      }
      FakeLog log;
      log.body = "2026-07-30T10:00:01.5Z step 3\n2026-07-30T10:00:02.5Z \x1b[1mfrom " + instance +
                 "\x1b[0m\ta\n";
      return log;
    };
  }
  void Look(size_t most) {
    const Context context = MakeContext();
    const auto job = FindJob(*client_, context, "default", "pt");
    ASSERT_TRUE(job) << job.error().message;
    asked_.clear();
    logs_.Look(*client_, *job, RankMap::Of(job->job), most, 1);
  }

  RankLogs logs_;
  std::vector<std::string> asked_;
};

using Asked = std::vector<std::string>;

TEST_F(RankLogsTest, OfAFewInstancesATimeAndThenOnlyWhatIsNew) {
  Look(1);
  EXPECT_EQ(asked_, Asked{"pt-master-0"});
  EXPECT_EQ(logs_.unread(), 1U);
  Look(1);
  EXPECT_EQ(asked_, Asked{"pt-worker-0"});
  EXPECT_EQ(logs_.unread(), 0U);
  Look(1);
  EXPECT_EQ(asked_, Asked{"pt-master-0 since 2026-07-30T10:00:02Z"});
  const RankLogs::Latest& latest = logs_.Of("pt-worker-0").at(1);
  EXPECT_EQ(latest.step, "step 3");
  EXPECT_EQ(latest.line, "from pt-worker-0 a");
  EXPECT_EQ(latest.at, *base::ParseRfc3339("2026-07-30T10:00:02.5Z"));
}

TEST_F(RankLogsTest, OfOneThatHasEndedOnceMore) {
  Look(2);
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Succeeded"));
  Look(2);
  EXPECT_EQ(asked_.size(), 2U) << "its last lines";
  Look(2);
  EXPECT_EQ(asked_, Asked{"pt-worker-0 since 2026-07-30T10:00:02Z"});
  text::Json again = MakePod("pt", "master", 0, "Running");
  text::Set(again, {"metadata", "uid"}, text::Json("another"));
  cluster_->Put(kPods, again);
  Look(2);
  EXPECT_TRUE(std::find(asked_.begin(), asked_.end(), "pt-master-0") != asked_.end())
      << "a new pod is read from its beginning";
}

}  // namespace
}  // namespace arena
