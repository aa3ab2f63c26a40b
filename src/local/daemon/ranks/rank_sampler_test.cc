#include "local/daemon/ranks/rank_sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "runs/progress/history.h"

namespace local::daemon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(SamplePeriod, GrowsWithTheJobSoThatOneOfAnyLengthMakesSomeThousandLooks) {
  EXPECT_EQ(SamplePeriod(seconds(0)), seconds(5));
  EXPECT_EQ(SamplePeriod(hours(1)), seconds(5));
  EXPECT_EQ(SamplePeriod(hours(24)), seconds(86));
  size_t looks = 0;
  for (seconds age{0}; age < hours(24 * 60); age += SamplePeriod(age)) ++looks;
  EXPECT_LT(looks, 10'000u);
  EXPECT_LT(looks, runs::kMostKeptWaits);
}

TEST(RankSampler, OfProcessesThatCannotBeAskedKnowsNothing) {
  RankSampler::Instant now{};
  base::Time wall{};
  RankSampler sampler(now);
  for (int i = 0; i < 20; ++i) {
    now += seconds(1);
    wall += seconds(1);
    EXPECT_FALSE(sampler.See(now, wall, {{0, ::getpid(), "/nosuch"}, {1, 1, "/nosuch"}}));
    EXPECT_FALSE(sampler.late());
  }
}

}  // namespace
}  // namespace local::daemon
