#include "runs/progress/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace runs {
namespace {

constexpr Millis kNow = 1'764'000'000'000;

LineProgress Step(int64_t step, double loss) {
  LineProgress progress;
  progress.step = step;
  progress.steps = 1000;
  progress.scalars = {{"loss", loss}};
  return progress;
}

size_t PointsOf(const History& history, size_t series = 0) {
  const text::Json json = history.SeriesToJson(1'000'000);
  return text::FindArray(json.as_array().at(series), {"points"})->size();
}

TEST(History, IsReadAsItWasWritten) {
  History history;
  history.Note("log of a", kNow, Step(10, 0.5), std::nullopt);
  history.Note("status posts", kNow + 5000, Step(20, std::nan("")), 2);
  const std::string file = history.TakeNew();
  EXPECT_EQ(history.TakeNew(), "");
  const History read = History::Read(file);
  const auto latest = read.Latest();
  ASSERT_EQ(latest.size(), 2u);
  EXPECT_EQ(latest[0].source, "status posts");
  EXPECT_EQ(latest[0].percent, 2);
  EXPECT_EQ(latest[1].percent, 1);
  EXPECT_EQ(DescribeProgress(latest[0]), "step 20/1000 (2%), loss nan");
  EXPECT_EQ(read.SeriesToJson(10), history.SeriesToJson(10));
  std::string source;
  EXPECT_EQ(read.Steps(source).size(), 1u);
  EXPECT_NE(source, "");
}

TEST(History, KeepsTheLastOfASecondAndTheFirstTwo) {
  History history;
  for (int i = 0; i < 1000; ++i) {
    history.Note("a", kNow + i, Step(i, 0.5), std::nullopt);
    history.Note("b", kNow + i, Step(i, 0.5), std::nullopt);
  }
  EXPECT_EQ(PointsOf(history), 3u);
  EXPECT_EQ(history.Latest()[0].progress.step, 999);
}

TEST(History, OfPodsThatAreAsFarTheMastersLogGoesFirst) {
  History history;
  history.Note("log of a-worker-0", kNow, Step(9, 0.7), std::nullopt);
  history.Note("log of a-master-0", kNow + 1, Step(10, 0.5), std::nullopt);
  history.Note("log of a-worker-0", kNow + 2, Step(10, 0.6), std::nullopt);
  EXPECT_EQ(history.Latest()[0].source, "log of a-master-0");
  history.Note("log of a-worker-0", kNow + 3, Step(11, 0.6), std::nullopt);
  EXPECT_EQ(history.Latest()[0].source, "log of a-worker-0");
}

std::vector<int64_t> StepsIn(const History& history) {
  std::string source;
  std::vector<int64_t> steps;
  for (const StepMark& mark : history.Steps(source)) steps.push_back(mark.step);
  return steps;
}

TEST(History, KeepsTheLinesAroundTheBeginningOfStepsThatAreMadeAgain) {
  History history;
  Millis at = kNow;
  for (int64_t step = 1; step <= 10; ++step) {
    history.Note("a", at += 70, Step(step, 0.5), std::nullopt);
  }
  for (int64_t step = 6; step <= 12; ++step) {
    history.Note("a", at += 70, Step(step, 0.5), std::nullopt);
  }
  const std::vector<int64_t> first = {1, 2, 9, 12};
  EXPECT_EQ(StepsIn(history), first);  // all within a second: only the first beginning counts
  for (int64_t step = 6; step <= 9; ++step) {
    history.Note("a", at += 70, Step(step, 0.5), std::nullopt);
  }
  const std::vector<int64_t> again = {1, 2, 9, 12, 6, 7, 9};
  EXPECT_EQ(StepsIn(history), again);
  EXPECT_EQ(StepsIn(History::Read(history.TakeNew())), again);
  EXPECT_EQ(StepsIn(History::Read(history.Compacted())), again);
}

TEST(History, StepsThatGoBackAtEachLineAreNotAllKept) {
  History history;
  for (int i = 0; i < 100'000; ++i) {
    history.Note("a", kNow + i, Step(i % 2, 0.5), std::nullopt);
  }
  EXPECT_LT(PointsOf(history), 500u);
}

TEST(History, OfOldSecondsItKeepsFewerAndEndsOfAttempts) {
  History history;
  constexpr int kHours = 15;
  for (int i = 0; i < kHours * 3600; ++i) {
    // Begins anew at 1,805 s.
    history.Note("a", kNow + i * 1000, Step(i < 1805 ? i : i - 1805, 0.5), std::nullopt);
    if (i % 1000 == 0) history.TakeNew();
  }
  const std::string file = history.Compacted();
  EXPECT_LT(file.size(), 600'000u);
  // An hour of seconds, ten hours of tens, and four of minutes.
  EXPECT_NEAR(static_cast<double>(PointsOf(history)), 3600 + 3600 + 240, 10);
  std::string source;
  const auto steps = History::Read(file).Steps(source);
  const auto back = std::adjacent_find(
      steps.begin(), steps.end(), [](const auto& a, const auto& b) { return b.step < a.step; });
  ASSERT_NE(back, steps.end());
  EXPECT_EQ(back->step, 1804);
}

TEST(History, OfTooMuchItKeepsTheFirstAndKnowsTheLast) {
  History history;
  size_t bytes = 0;
  for (int i = 0; i < 3599; ++i) {
    LineProgress progress = Step(i, 0.5);
    for (int name = 0; name < 400; ++name) {
      progress.scalars.emplace_back(fmt::format("scalar_{}", name), i + 0.123456);
    }
    history.Note("a", kNow + i * 1000, progress, std::nullopt);
    bytes += history.TakeNew().size();
  }
  EXPECT_LT(bytes, 2 * kMostBytesOfAnHour);  // two hours by the clock
  EXPECT_EQ(history.Latest()[0].progress.step, 3598);
}

TEST(History, ManyTimesAtOnceAndTimesThatGoBackAndForthAreNotAllKept) {
  History at_once;
  for (int i = 0; i < 100'000; ++i) {
    at_once.Note("a", kNow + i % 3000 * 1000, Step(i, 0.5), std::nullopt);
  }
  EXPECT_LT(at_once.TakeNew().size(), kMostBytesOfAnHour + 1000);
  History back_and_forth;
  size_t bytes = 0;
  for (int i = 0; i < 50'000; ++i) {
    const Millis hour = i % 2 == 0 ? 0 : 3'600'000;
    back_and_forth.Note("a", kNow + hour + i % 3000 * 1000, Step(i, 0.5), std::nullopt);
    if (i % 1000 == 0) bytes += back_and_forth.TakeNew().size();
  }
  EXPECT_LT(bytes, 2 * kMostBytesOfAnHour);
  EXPECT_EQ(back_and_forth.Latest()[0].progress.step, 49'999);
}

TEST(History, WhoNamesNoStepAnyMoreIsWhereItWas) {
  History history;
  history.Note("status posts", kNow, Step(1000, 0.5), 99);
  LineProgress end;
  end.scalars = {{"loss", 0.25}};
  history.Note("status posts", kNow + 1000, end, 100);
  EXPECT_EQ(DescribeProgress(history.Latest()[0]), "step 1000/1000 (100%), loss 0.25");
}

TEST(History, PassesOverWhatIsMalformed) {
  const History history = History::Read(
      "s 0 a\nn 0 loss\nx\np\np 7 1 2\ns 5 b\np 0 soon 1 2 - - - -\np 0 5 1 - - - - - 0=1 9=2 q\np "
      "0 6 1");
  ASSERT_EQ(history.Latest().size(), 1u);
  EXPECT_EQ(history.Latest()[0].at, 5);
}

TEST(History, SourcesThatDisagreeAreNamed) {
  History history;
  history.Note("a", kNow, Step(500, 0.5), std::nullopt);
  history.Note("b", kNow - 1, Step(505, 0.5), std::nullopt);
  EXPECT_TRUE(Disagreeing(history.Latest()).empty());
  history.Note("b", kNow - 1, Step(600, 0.5), std::nullopt);
  EXPECT_EQ(Disagreeing(history.Latest()).at(0).source, "b");
}

TEST(History, TheTimeThatIsLeftFollowsFromTheStepsOfLate) {
  History history;
  for (int i = 0; i <= 100; ++i) {
    // Two seconds a step, after a restart that went back to step 50.
    const int64_t step = i < 60 ? i : i - 10;
    history.Note("a", kNow + i * 2000, Step(step, 0.5), std::nullopt);
  }
  EXPECT_EQ(history.Latest()[0].progress.seconds_left, 2 * (1000 - 90));
  history.Note("a", kNow + 202'000, Step(0, 0.5), std::nullopt);
  EXPECT_FALSE(history.Latest()[0].progress.seconds_left);
}

TEST(History, EpochsWithStepsOfTheirOwnMakeAPercentage) {
  LineProgress progress;
  progress.step = 50;
  progress.steps = 100;
  progress.epoch = 1;
  progress.epochs = 2;
  progress.seconds_left = 600;
  History history;
  history.Note("a", kNow, progress, std::nullopt);
  EXPECT_EQ(DescribeProgress(history.Latest()[0]), "step 50/100, epoch 1/2 (75%), 10 min left");
}

TEST(History, ADoneTrainingHasNoTimeLeft) {
  LineProgress progress;
  progress.step = 5;
  progress.steps = 5;
  progress.seconds_left = 0;
  History history;
  history.Note("a", kNow, progress, 100);
  EXPECT_EQ(DescribeProgress(history.Latest()[0]), "step 5/5 (100%)");
}

TEST(History, KeepsWaits) {
  History history;
  history.NoteWait({1'764'000'000'000, 1'764'000'005'000, Bucket::kDataWait});
  for (int i = 0; i < 2; ++i) {
    history.NoteWait(
        {1'764'000'005'000, 1'764'000'010'000, Bucket::kRendezvous, WaitSpan::Source::kRanks});
  }
  history.NoteWait({INT64_MAX, 5, Bucket::kCheckpointSave});
  const std::string file = history.TakeNew();
  EXPECT_EQ(file,
            "w 1764000000000 1764000005000 data looks\n"
            "w 1764000005000 1764000010000 rendezvous ranks\n");
  History read = History::Read(file + "w 1 2 nonsense\nw 1764000005000 x data\nw 1 2 data x\n");
  ASSERT_EQ(read.waits().size(), 2u);
  EXPECT_EQ(read.waits()[1].bucket, Bucket::kRendezvous);
  EXPECT_EQ(read.waits()[1].source, WaitSpan::Source::kRanks);
  EXPECT_EQ(read.Compacted(), file);
  // As they were written before anything was measured.
  EXPECT_EQ(History::Read("w 1 2 data\n").waits().at(0).source, WaitSpan::Source::kLooks);
}

}  // namespace
}  // namespace runs
