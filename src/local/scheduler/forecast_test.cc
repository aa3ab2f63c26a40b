#include "local/scheduler/forecast.h"

#include <gtest/gtest.h>

namespace local::scheduler {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr base::Time kToday{std::chrono::seconds(1'800'000'000)};

// Machines of GPUs, gangs of one pod.
class ForecastTest : public testing::Test {
 protected:
  void Gpus(size_t count) { node_.gpus.resize(count); }
  // The first free ones are its.
  void Running(const std::string& key, int64_t gpus, base::Duration since) {
    Gang gang = Waiting(key, gpus);
    gang.pods[0].is_bound = true;
    for (int64_t i = 0; i < gpus; ++i) gang.pods[0].gpus.push_back(taken_++);
    gang.is_started = true;
    gang.active_since = gang.running_since = kToday - since;
    gangs_.push_back(gang);
  }
  Gang Waiting(const std::string& key, int64_t gpus) {
    Gang gang;
    gang.key = key;
    gang.created = kToday - minutes(10) + std::chrono::seconds(made_++);
    gang.active_since = gang.created;
    Pod pod;
    pod.uid = pod.name = key + "-0";
    pod.requests.gpus = gpus;
    gang.pods.push_back(pod);
    return gang;
  }
  Forecast Of(const std::string& key) {
    return Foresee(node_, gangs_, GpuPolicy::kStrict, kToday, durations_, key);
  }

  Node node_;
  std::vector<Gang> gangs_;
  Durations durations_;
  int taken_ = 0;
  int made_ = 0;
};

using When = Forecast::Kind;

TEST_F(ForecastTest, WhatFitsStartsNow) {
  Gpus(2);
  gangs_.push_back(Waiting("a", 2));
  const Forecast forecast = Of("a");
  EXPECT_EQ(forecast.kind, When::kNow);
  EXPECT_TRUE(forecast.endings.empty());
}

TEST_F(ForecastTest, WhatHasItsPlaceStarts) {
  Gpus(1);
  Running("a", 1, minutes(0));
  durations_["a"] = {minutes(5)};
  EXPECT_EQ(Of("a").kind, When::kNow);
  node_.is_cordoned = true;
  EXPECT_EQ(Of("a").kind, When::kNow);
}

TEST_F(ForecastTest, NobodyKnowsHowLongANodeIsCordoned) {
  Gpus(2);
  gangs_.push_back(Waiting("a", 2));
  node_.is_cordoned = true;
  EXPECT_EQ(Of("a").kind, When::kUnknown);
}

TEST_F(ForecastTest, WhatIsLargerThanTheMachineNeverStarts) {
  Gpus(1);
  gangs_.push_back(Waiting("a", 2));
  EXPECT_EQ(Of("a").kind, When::kNever);
}

TEST_F(ForecastTest, OnlyThePodsThatStartTogetherHaveToFit) {
  Gpus(1);
  gangs_.push_back(Waiting("a", 1));
  gangs_.back().missing_pods = 2;
  gangs_.back().missing.gpus = 2;
  gangs_.back().min_available = 1;
  EXPECT_EQ(Of("a").kind, When::kNow);
}

TEST_F(ForecastTest, ARunIsExpectedToLastAsLongAsThoseBeforeIt) {
  Gpus(1);
  Running("long", 1, minutes(10));
  gangs_.push_back(Waiting("a", 1));
  durations_["long"] = {minutes(30), minutes(30), minutes(30)};
  const Forecast forecast = Of("a");
  EXPECT_EQ(forecast.kind, When::kLater);
  EXPECT_EQ(forecast.median, kToday + minutes(20));
  EXPECT_EQ(forecast.late, kToday + minutes(20));
  ASSERT_EQ(forecast.endings.size(), 1u);
  EXPECT_EQ(forecast.endings[0].gang, "long");
}

TEST_F(ForecastTest, NotLongerThanItsDeadline) {
  Gpus(1);
  Running("long", 1, minutes(10));
  gangs_[0].active_deadline = minutes(15);
  gangs_.push_back(Waiting("a", 1));
  durations_["long"] = {hours(3)};
  EXPECT_EQ(Of("a").median, kToday + minutes(5));
}

TEST_F(ForecastTest, WhoIsBeforeItInTheQueueRunsFirst) {
  Gpus(1);
  Running("now", 1, minutes(1));
  gangs_.push_back(Waiting("next", 1));
  gangs_.push_back(Waiting("a", 1));
  gangs_.push_back(Waiting("behind", 1));
  durations_["now"] = {minutes(2)};
  durations_["next"] = {minutes(7)};
  durations_["behind"] = {hours(9)};
  const Forecast forecast = Of("a");
  EXPECT_EQ(forecast.median, kToday + minutes(8));
  ASSERT_EQ(forecast.endings.size(), 2u);
  EXPECT_EQ(forecast.endings[1].gang, "next");
}

TEST_F(ForecastTest, WhatHasWaitedLongRunsAsLongAsOthers) {
  Gpus(1);
  Running("now", 1, minutes(1));
  durations_["now"] = {minutes(2)};
  for (int i = 0; i < 5; ++i) {
    gangs_.push_back(Waiting("w" + std::to_string(i), 1));
    durations_[gangs_.back().key] = {minutes(2)};
  }
  EXPECT_EQ(Of("w4").median, kToday + minutes(9));
}

TEST_F(ForecastTest, ADeadlineEndsAWaitToo) {
  Gpus(1);
  Running("now", 1, minutes(1));
  durations_["now"] = {minutes(31)};
  gangs_.push_back(Waiting("short", 1));
  gangs_.back().active_deadline = minutes(20);  // in ten minutes
  durations_["short"] = {minutes(5)};
  gangs_.push_back(Waiting("a", 1));
  EXPECT_EQ(Of("short").kind, When::kExpires);
  EXPECT_EQ(Of("a").median, kToday + minutes(30));
}

TEST_F(ForecastTest, OfHigherPriorityItGoesFirst) {
  Gpus(1);
  Running("now", 1, minutes(1));
  gangs_.push_back(Waiting("next", 1));
  gangs_.push_back(Waiting("a", 1));
  gangs_.back().priority = 5;
  durations_["now"] = {minutes(2)};
  durations_["next"] = {minutes(7)};
  EXPECT_EQ(Of("a").median, kToday + minutes(1));
}

TEST_F(ForecastTest, DurationsThatDifferSpreadTheStart) {
  Gpus(1);
  Running("long", 1, base::Duration(0));
  gangs_.push_back(Waiting("a", 1));
  for (int i = 1; i <= 20; ++i) durations_["long"].push_back(minutes(i));
  const Forecast forecast = Of("a");
  EXPECT_EQ(forecast.median, kToday + minutes(11));
  EXPECT_EQ(forecast.late, kToday + minutes(19));
}

TEST_F(ForecastTest, OfWhatNothingIsKnownIsExpectedThatItLastsAsLongAgain) {
  Gpus(1);
  Running("new", 1, minutes(10));
  gangs_.push_back(Waiting("a", 1));
  const Forecast forecast = Of("a");
  EXPECT_EQ(forecast.kind, When::kLater);
  EXPECT_GE(forecast.median, kToday + minutes(9));
  EXPECT_LE(forecast.median, kToday + minutes(12));
}

TEST_F(ForecastTest, WhatHangsOnARunThatHasNotBegunAndOfWhichNothingIsKnownIsNotForetold) {
  Gpus(1);
  Running("now", 1, minutes(1));
  gangs_.push_back(Waiting("unknown", 1));
  gangs_.push_back(Waiting("a", 1));
  EXPECT_EQ(Of("a").kind, When::kUnknown);
  EXPECT_EQ(Of("unknown").kind, When::kLater);
}

TEST_F(ForecastTest, AGpuOfAnotherProgramIsNotForetold) {
  Gpus(1);
  node_.gpus[0].is_locked_elsewhere = true;
  gangs_.push_back(Waiting("a", 1));
  EXPECT_EQ(Of("a").kind, When::kUnknown);
}

TEST_F(ForecastTest, PodsThatAreNotMadeYetCount) {
  Gpus(2);
  Running("now", 1, minutes(1));
  durations_["now"] = {minutes(3)};
  gangs_.push_back(Waiting("a", 1));
  gangs_.back().missing_pods = 1;
  gangs_.back().missing.gpus = 1;
  EXPECT_EQ(Of("a").median, kToday + minutes(2));
}

TEST_F(ForecastTest, IsTheSameEachTime) {
  Gpus(4);
  for (int i = 0; i < 4; ++i) {
    Running("r" + std::to_string(i), 1, minutes(i));
    durations_["r" + std::to_string(i)] = {minutes(5), minutes(9), minutes(40)};
  }
  for (int i = 0; i < 6; ++i) gangs_.push_back(Waiting("w" + std::to_string(i), 1 + i % 3));
  for (int i = 0; i < 6; ++i) durations_["w" + std::to_string(i)] = {minutes(4), minutes(30)};
  const Forecast once = Of("w5");
  const Forecast again = Of("w5");
  EXPECT_EQ(once.kind, When::kLater);
  EXPECT_EQ(once.median, again.median);
  EXPECT_EQ(once.late, again.late);
}

TEST_F(ForecastTest, NothingIsForetoldOfWhatIsNotThere) { EXPECT_EQ(Of("a").kind, When::kUnknown); }

}  // namespace
}  // namespace local::scheduler
