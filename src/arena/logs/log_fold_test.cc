#include "arena/logs/log_fold.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace arena {
namespace {

using std::chrono::milliseconds;

class LogFoldTest : public testing::Test {
 protected:
  static constexpr LogFold::Moment kStart{};

  // `at` is the time after 10:00 in tenths of a second, for both the line and the clock.
  void Add(LogFold& fold, std::optional<int> rank, const std::string& text, int at = 0) {
    const std::string time = fmt::format("2026-07-30T10:00:{:02}.{}00000000", at / 10, at % 10);
    fold.Add(rank, "pt-master-0", {time, time + "Z ", text + "\n"},
             kStart + milliseconds(at * 100));
  }
  std::string Folded(int ranks, const std::vector<std::pair<int, std::string>>& lines) {
    LogFold fold({ranks});
    for (const auto& [rank, text] : lines) Add(fold, rank, text);
    return fold.TakeAll();
  }
};

TEST(NameRanks, ShortestOfRangesAndExceptions) {
  EXPECT_EQ(NameRanks({0}, 1), "0");
  EXPECT_EQ(NameRanks({1}, 2), "1");
  EXPECT_EQ(NameRanks({0, 1, 2, 3, 4, 5, 6, 7}, 8), "0-7");
  EXPECT_EQ(NameRanks({0, 1, 2, 4, 5, 6, 7}, 8), "all but 3");
  EXPECT_EQ(NameRanks({0, 1, 5}, 8), "0-1,5");
  EXPECT_EQ(NameRanks({0, 1, 2, 3}, 2), "0-3") << "an elastic job may have more";
}

TEST_F(LogFoldTest, WhatAllSayIsShownOnce) {
  EXPECT_EQ(Folded(2, {{0, "hello"}, {1, "hello"}, {1, "only one"}}),
            "[0-1] hello\n[1] only one\n");
  EXPECT_EQ(Folded(1, {{0, "alone"}}), "[0] alone\n");
}

TEST_F(LogFoldTest, NumbersThatDifferAreRanges) {
  EXPECT_EQ(Folded(3, {{0, "rank 0: loss 0.51 at 0x7f"},
                       {2, "rank 2: loss 1e-3 at 0x80"},
                       {1, "rank 1: loss 0.6 at 0x7f"}}),
            "[0-2] rank 0..2: loss 1e-3..0.6 at 0x7f..0x80\n");
  EXPECT_EQ(Folded(2, {{0, "cat"}, {1, "dog"}}), "[0] cat\n[1] dog\n");
  EXPECT_EQ(Folded(2, {{0, "a \x01 1"}, {1, "a \x01 2"}}), "[0-1] a ? 1..2\n");
}

TEST_F(LogFoldTest, ARanksLinesKeepTheirOrder) {
  EXPECT_EQ(Folded(2, {{0, "a"}, {1, "b"}, {1, "a"}, {0, "b"}}), "[1] b\n[0-1] a\n[0] b\n");
  EXPECT_EQ(Folded(2, {{0, "step 1"}, {0, "step 2"}, {1, "step 1"}, {1, "step 2"}}),
            "[0-1] step 1\n[0-1] step 2\n");
}

TEST_F(LogFoldTest, RepeatedLinesAreCounted) {
  EXPECT_EQ(Folded(2, {{0, "w"}, {1, "w"}, {0, "w"}, {1, "w"}, {0, "w"}, {1, "w"}, {0, "end"}}),
            "[0-1] w\n[0-1] (2 more of the same)\n[0] end\n");
  LogFold fold({1});
  for (int i = 0; i < 3; ++i) Add(fold, 0, "w");
  EXPECT_EQ(fold.Take(kStart), "[0] w\n");
  EXPECT_EQ(fold.NextAt(), kStart + LogFold::kRepeatWindow);
  EXPECT_EQ(fold.Take(kStart + LogFold::kRepeatWindow), "[0] (2 more of the same)\n");
  EXPECT_EQ(fold.NextAt(), std::nullopt);
}

TEST_F(LogFoldTest, ALineThatIsRepeatedWithoutEndIsCountedNowAndThen) {
  LogFold fold({1});
  std::string said;
  for (int second = 0; second <= 11; ++second) {
    Add(fold, 0, "w", second * 10);
    said += fold.Take(kStart + std::chrono::seconds(second));
  }
  EXPECT_EQ(said, "[0] w\n[0] (11 more of the same)\n");
}

TEST_F(LogFoldTest, WaitsForTheOthersAsLongAsItsWindow) {
  LogFold fold({3});
  Add(fold, 0, "a", 0);
  Add(fold, 1, "a", 4);
  EXPECT_EQ(fold.Take(kStart + milliseconds(499)), "");
  EXPECT_EQ(fold.NextAt(), kStart + LogFold::kWindow);
  EXPECT_EQ(fold.Take(kStart + LogFold::kWindow), "[0-1] a\n");
  Add(fold, 2, "a", 6);
  EXPECT_EQ(fold.TakeAll(), "[2] a\n");
}

TEST_F(LogFoldTest, WhoSaidTheLineBeforeIsAwaitedLonger) {
  LogFold fold({2});
  Add(fold, 0, "begin");
  Add(fold, 1, "begin");
  Add(fold, 0, "a", 1);
  EXPECT_EQ(fold.Take(kStart + milliseconds(700)), "[0-1] begin\n");
  EXPECT_EQ(fold.NextAt(), kStart + milliseconds(100) + LogFold::kPatience);
  Add(fold, 1, "a", 12);
  EXPECT_EQ(fold.Take(kStart + milliseconds(1200)), "[0-1] a\n");
}

TEST_F(LogFoldTest, WhoWasAwaitedInVainIsNotAgain) {
  LogFold fold({2});
  for (const int rank : {0, 1}) Add(fold, rank, "begin");
  Add(fold, 0, "step 1");
  EXPECT_EQ(fold.Take(kStart + LogFold::kPatience), "[0-1] begin\n[0] step 1\n");
  for (const int rank : {0, 1}) Add(fold, rank, "saved", 30);
  Add(fold, 0, "step 2", 30);
  EXPECT_EQ(fold.Take(kStart + milliseconds(3000) + LogFold::kWindow), "[0-1] saved\n[0] step 2\n");
}

TEST_F(LogFoldTest, WhoIsAheadIsJoinedBehindWhatItDoesNotSay) {
  LogFold fold({3});
  for (const int rank : {0, 1, 2}) Add(fold, rank, "loss");
  Add(fold, 2, "100%", 1);  // rank 2 does not say "saved"
  EXPECT_EQ(fold.Take(kStart + milliseconds(600)), "[0-2] loss\n");
  for (const int rank : {0, 1}) Add(fold, rank, "saved", 9);
  EXPECT_EQ(fold.Take(kStart + milliseconds(900)), "");
  for (const int rank : {1, 0}) Add(fold, rank, "100%", 10);
  EXPECT_EQ(fold.TakeAll(), "[0-1] saved\n[0-2] 100%\n");
}

TEST_F(LogFoldTest, LaterLinesEndTheWindowWithoutAClock) {
  LogFold fold({2});
  Add(fold, 0, "a", 0);
  Add(fold, 0, "b", 6);
  EXPECT_EQ(fold.Take(kStart), "[0] a\n");
}

TEST_F(LogFoldTest, LinesOfNoRankAndBars) {
  LogFold fold({2, true});
  Add(fold, std::nullopt, "muster: 2 workers");
  Add(fold, 0, "10%|#\r 50%|##\r100%|###");
  EXPECT_EQ(fold.TakeAll(),
            "[pt-master-0] 2026-07-30T10:00:00.000000000Z muster: 2 workers\n"
            "[0] 2026-07-30T10:00:00.000000000Z 100%|###\n");
}

TEST_F(LogFoldTest, HoldsNoMoreThanItMay) {
  LogFold fold({2});
  for (size_t i = 0; i < LogFold::kMaxHeld + 1; ++i) Add(fold, 0, std::string(i % 40 + 1, 'x'));
  EXPECT_NE(fold.Take(kStart), "");
}

}  // namespace
}  // namespace arena
