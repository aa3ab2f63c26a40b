#include "arena/jobs/job_news.h"

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using JobNewsTest = VerbTest;
using std::chrono::milliseconds;

TEST_F(JobNewsTest, WithAMaximumTheWaitEndsWithoutNews) {
  cluster_->Put(kJobs, MakeJob("first", "Running", std::chrono::seconds(9)));
  JobNews news(*client_, "default");
  ASSERT_TRUE(news.Await(milliseconds(0), milliseconds(0)));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(news.Await(milliseconds(0), milliseconds(20)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
  // News do not wait for it.
  cluster_->Put(kJobs, MakeJob("second", "Running", std::chrono::seconds(8)));
  ASSERT_TRUE(news.Await(milliseconds(0), std::chrono::hours(1)));
}

}  // namespace
}  // namespace arena
