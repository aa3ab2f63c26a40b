#include "runs/progress/tracker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runs/progress/checkpoint_line.h"

namespace runs {
namespace {

TEST(Tracker, KeepsTheStepsOfTheLinesThatSayTheMost) {
  Tracker tracker;
  tracker.See(1000, "starting");
  for (int step = 1; step <= 100; ++step) {
    tracker.See(1000 + step * 10,
                fmt::format("Training: {}%|#  | {}/100 [00:10<00:15, 1it/s]\r", step, step));
    if (step % 10 == 0) tracker.See(1001 + step * 10, fmt::format("step {} loss 0.5", step));
  }
  ASSERT_EQ(tracker.steps().size(), 100u);
  EXPECT_EQ(tracker.steps().back().step, 100);
  EXPECT_EQ(tracker.first_line(), 1000);
  EXPECT_EQ(tracker.latest().steps, 100);
  ASSERT_EQ(tracker.latest().scalars.size(), 1u);
  EXPECT_EQ(tracker.latest().scalars[0].first, "loss");
}

TEST(Tracker, TheSourceInATracebackIsNoStep) {
  Tracker tracker;
  for (const char* line : {"step 2 loss 0.5", "Traceback (most recent call last):",
                           "  File \"/x/train.py\", line 4, in <module>", "    step(100)"}) {
    tracker.See(1, line);
  }
  ASSERT_EQ(tracker.steps().size(), 1u);
  EXPECT_EQ(tracker.steps()[0].step, 2);
}

TEST(Tracker, SeesEachPartOfALineThatWasDrawnOver) {
  Tracker tracker;
  tracker.See(5, "  1%|  | 1/100 [00:10<00:15, 1it/s]\r  2%|  | 2/100 [00:10<00:15, 1it/s]");
  EXPECT_EQ(tracker.steps().size(), 2u);
}

TEST(Tracker, OfVeryManyStepsItKeepsSomeAndTheLastBeforeEachStart) {
  Tracker tracker;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (int step = 1; step <= 30'000; ++step) {
      tracker.See(attempt * 100'000 + step, fmt::format("step {}", step));
    }
  }
  const std::vector<StepMark>& steps = tracker.steps();
  EXPECT_LT(steps.size(), kMostMarks);
  EXPECT_GT(steps.size(), kMostMarks / 4);
  const auto back =
      std::adjacent_find(steps.begin(), steps.end(),
                         [](const StepMark& a, const StepMark& b) { return b.step < a.step; });
  ASSERT_NE(back, steps.end());
  EXPECT_EQ((back + 1)->step, 1);
}

TEST(Tracker, EpochsAreStepsWhereNothingElseIsReportedAndPartsOfThemCount) {
  Tracker tracker;
  tracker.See(1, "{'loss': '0.5', 'epoch': '0.1'}");
  tracker.See(2, "{'loss': '0.4', 'epoch': '0.2'}");
  ASSERT_EQ(tracker.steps().size(), 2u);
  EXPECT_EQ(tracker.steps()[1].step, 200);
  EXPECT_EQ(tracker.latest().scalars[0].second, 0.4);
}

TEST(Tracker, ACheckpointLastsUntilTheNextLineOrAsLongAsItSays) {
  Tracker tracker;
  tracker.See(1000, "Loading checkpoint last.pt");
  tracker.See(3000, "step 10 loss 1");
  tracker.See(4000, "Saving model checkpoint to out/checkpoint-10");
  tracker.See(6500, "step 11 loss 1");
  tracker.See(9000, "saved checkpoint in 1.5s");
  tracker.See(10'000, "Saving checkpoint");
  tracker.See(9'000'000, "step 12");  // too long to be believed
  const auto& spans = tracker.checkpoints();
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_TRUE(spans[0].is_load);
  EXPECT_EQ(spans[0].end - spans[0].begin, 2000);
  EXPECT_EQ(spans[1].end - spans[1].begin, 2500);
  EXPECT_EQ(spans[2].begin, 7500);
}

TEST(CheckpointIn, OtherLinesAreNone) {
  EXPECT_FALSE(CheckpointIn("step 10 loss 1"));
  EXPECT_FALSE(CheckpointIn("checkpoint every 10 steps"));
  EXPECT_FALSE(CheckpointIn("Loading checkpoint shards: 10%|#  | 1/10 [00:10<00:15, 1it/s]"));
  EXPECT_EQ(CheckpointIn("loaded ckpt, took 20 ms")->seconds, 0.02);
}

}  // namespace
}  // namespace runs
