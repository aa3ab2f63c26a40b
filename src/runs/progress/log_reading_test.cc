#include "runs/progress/log_reading.h"

#include <gtest/gtest.h>

namespace runs {
namespace {

TEST(LogReading, ReportsTheLowestRankThatSpeaks) {
  LogReading log;
  EXPECT_FALSE(log.See(1, "", "begins").progress);
  EXPECT_EQ(log.See(2, "rank11", "step 1 loss 2").progress->step, 1);
  EXPECT_EQ(log.See(3, "rank2", "step 2 loss 2").progress->step, 2);
  EXPECT_FALSE(log.See(4, "rank11", "step 3 loss 2").progress);
  EXPECT_FALSE(log.See(5, "", "step 4 loss 2").progress);
  EXPECT_EQ(log.See(6, "rank2", "step 5 loss 2").progress->step, 5);
}

TEST(LogReading, OfABarTheLastThatWasDrawnCounts) {
  LogReading log;
  EXPECT_EQ(log.See(1, "", "step 1 loss 3\rstep 7 loss 2\r").progress->step, 7);
  EXPECT_FALSE(log.See(2, "", "Downloading:  10%|#  | 1/10 [00:01<00:09, 1.0it/s]").progress);
}

TEST(LogReading, TheSourceInATracebackSaysNothing) {
  LogReading log;
  EXPECT_EQ(log.See(1, "rank0", "step 2 loss 0.3").progress->step, 2);
  EXPECT_FALSE(log.See(2, "rank0", "  File \"/x/train.py\", line 4, in <module>").progress);
  EXPECT_FALSE(log.See(2, "rank1", "  File \"/x/train.py\", line 5, in <module>").progress);
  EXPECT_FALSE(log.See(3, "rank0", "    step(100)").progress);
  EXPECT_FALSE(log.See(3, "rank1", "    step(100)").progress);
  EXPECT_EQ(log.See(4, "rank0", "step 3 loss 0.2").progress->step, 3);
  EXPECT_FALSE(
      log.See(5, "", "            :   File \"/x/train.py\", line 4, in <module>").progress);
  EXPECT_FALSE(log.See(5, "", "            :     print(f\"step {i} loss 1.0\")").progress);
  EXPECT_FALSE(log.See(6, "", "  |   File \"/x/train.py\", line 4, in <module>").progress);
  EXPECT_FALSE(log.See(6, "", "  |     step(100)").progress);
}

TEST(LogReading, ACheckpointIsOfTheSameRank) {
  LogReading log;
  EXPECT_TRUE(log.See(1, "rank0", "step 1 loss 2").progress);
  EXPECT_FALSE(log.See(1000, "rank1", "saved checkpoint in 0.5s").checkpoint);
  const auto span = log.See(2000, "rank0", "saved checkpoint in 0.5s").checkpoint;
  ASSERT_TRUE(span);
  EXPECT_EQ(span->begin, 1500);
}

}  // namespace
}  // namespace runs
