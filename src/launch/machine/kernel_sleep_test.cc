#include "launch/machine/kernel_sleep.h"

#include <gtest/gtest.h>

#include <map>

namespace launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(KernelSleepLimit, IsANumberAboveNone) {
  EXPECT_EQ(KernelSleepLimit("5"), seconds(5));
  EXPECT_EQ(KernelSleepLimit(" 0.5 "), milliseconds(500));
  EXPECT_EQ(KernelSleepLimit("inf"), seconds(1'000'000'000));
  for (const char* off : {"", "0", "-1", "nan", "a"}) EXPECT_FALSE(KernelSleepLimit(off)) << off;
}

class KernelSleepWatchTest : public ::testing::Test {
 protected:
  std::optional<KernelSleepWatch::Stuck> LookAfter(base::Duration time) {
    now_ += time;
    return watch_.Look({11, 0, 12}, now_);
  }

  std::map<pid_t, char> states_{{11, 'S'}, {12, 'D'}};
  KernelSleepWatch::Instant now_{};
  KernelSleepWatch watch_{seconds(5), [this](pid_t pid) { return states_.at(pid); }};
};

TEST_F(KernelSleepWatchTest, NamesWhoSleptForTheWholeTime) {
  EXPECT_FALSE(LookAfter({}));
  EXPECT_FALSE(LookAfter(seconds(4)));
  const auto stuck = LookAfter(seconds(1));
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->local_rank, 2);
  EXPECT_EQ(stuck->pid, 12);
  EXPECT_EQ(stuck->time, seconds(5));
}

TEST_F(KernelSleepWatchTest, WhoWakesUpBeginsAnew) {
  EXPECT_FALSE(LookAfter({}));
  states_[12] = 'R';
  EXPECT_FALSE(LookAfter(seconds(3)));
  states_[12] = 'D';
  EXPECT_FALSE(LookAfter(seconds(3)));
  EXPECT_FALSE(LookAfter(seconds(4)));
  EXPECT_TRUE(LookAfter(seconds(1)));
}

TEST_F(KernelSleepWatchTest, LooksMoreOftenForAShortLimit) {
  EXPECT_EQ(watch_.Interval(), milliseconds(100));
  EXPECT_EQ(KernelSleepWatch(seconds(20), nullptr).Interval(), milliseconds(400));
  EXPECT_EQ(KernelSleepWatch(seconds(300), nullptr).Interval(), seconds(1));
}

}  // namespace
}  // namespace launch
