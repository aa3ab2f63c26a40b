#include "ads/node/sync_plan.h"

#include <gtest/gtest.h>

namespace ads {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Names = std::vector<std::string>;

const SyncPlan::Time kBegin{std::chrono::hours(1)};

TEST(SyncPlan_Take, AClosedFileGoesAtOnceAnOpenOneOnceItIsStill) {
  SyncPlan plan({.interval = minutes(1)});
  EXPECT_EQ(plan.Next(), std::nullopt);
  plan.Changed("closed", true, kBegin);
  plan.Changed("open", false, kBegin);
  EXPECT_EQ(plan.Next(), kBegin);
  EXPECT_EQ(plan.Take(kBegin), Names{"closed"});
  plan.Changed("open", false, kBegin + seconds(1));
  EXPECT_EQ(plan.Next(), kBegin + seconds(3));
  EXPECT_EQ(plan.Take(kBegin + seconds(2)), Names());
  EXPECT_EQ(plan.Take(kBegin + seconds(3)), Names{"open"});
  EXPECT_EQ(plan.Next(), std::nullopt);
}

TEST(SyncPlan_Take, TheSameFileWaitsForTheInterval) {
  SyncPlan plan({.interval = minutes(1)});
  plan.Tried("a", kBegin);
  plan.Changed("a", true, kBegin + seconds(1));
  EXPECT_EQ(plan.Next(), kBegin + minutes(1));
  EXPECT_EQ(plan.Take(kBegin + seconds(59)), Names());
  EXPECT_EQ(plan.Take(kBegin + seconds(60)), Names{"a"});
}

TEST(SyncPlan_Take, AFileThatIsNeverStillGoesInTheEnd) {
  SyncPlan plan({.interval = seconds(10)});
  auto now = kBegin;
  for (; now < kBegin + seconds(50); now += seconds(1)) {
    plan.Changed("log", false, now);
    EXPECT_EQ(plan.Take(now), Names());
  }
  plan.Changed("log", false, now);
  EXPECT_EQ(plan.Take(now), Names{"log"});
  // The limit starts again.
  plan.Changed("log", false, now);
  EXPECT_EQ(plan.Take(now + seconds(1)), Names());
}

}  // namespace
}  // namespace ads
