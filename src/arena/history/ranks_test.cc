#include "arena/history/ranks.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(StepIn, WhatALineSaysOfProgress) {
  const std::pair<const char*, const char*> cases[] = {
      {"epoch 3, step 12: loss 0.5", "step 12"},
      {"Train Epoch: 1 [640/60000 (1%)]\tloss=0.9", "epoch 1"},
      {"{'loss': 0.5, 'iter': 7}", ""},
      {"iter=7 loss=1", "iter 7"},
      {"Iteration #8", "iteration 8"},
      {"Batch(9)", "batch 9"},
      {"footstep 4", ""},
      {"step", ""},
      {"step one", ""},
      {"step 99999999999999999999999", ""},
      {"", ""},
  };
  for (const auto& [line, step] : cases) EXPECT_EQ(StepIn(line), step) << line;
}

TEST(RenderRanks, ALineEachWithDashesForWhatIsNotKnown) {
  std::vector<RankState> ranks(2);
  ranks[0] = {0,
              "a-master-0",
              "Running",
              "step 3",
              std::chrono::seconds(2),
              7,
              0.98,
              3 << 20,
              answers::Lateness{10, 9, std::chrono::microseconds(1500)},
              "train.py:8",
              "waits in all_reduce"};
  ranks[1].rank = 1;
  ranks[1].instance = "a-worker-0";
  EXPECT_EQ(RenderRanks(ranks),
            "RANK  INSTANCE    STATE    STEP    QUIET  CPU  MEMORY  LATE BY               WHERE\n"
            "0     a-master-0  Running  step 3  2s     98%  3 MiB   1.5 ms, last 9 of 10  "
            "train.py:8: waits "
            "in all_reduce\n"
            "1     a-worker-0  -        -       -      -    -       -                     -\n");
}

}  // namespace
}  // namespace arena
