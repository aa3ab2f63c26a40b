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
  ranks[0].instance = "a-master-0";
  ranks[0].state = "Running";
  ranks[0].step = "step 3";
  ranks[0].quiet = std::chrono::seconds(2);
  ranks[0].cpu = 0.98;
  ranks[0].memory = 3 << 20;
  ranks[0].late = answers::Lateness{10, 9, std::chrono::microseconds(1500)};
  ranks[0].place = "train.py:8";
  ranks[0].doing = "waits in all_reduce";
  ranks[1].rank = 1;
  ranks[1].instance = "a-worker-0";
  EXPECT_EQ(RenderRanks(ranks),
            "RANK  INSTANCE    STATE    STEP    QUIET  CPU  MEMORY  LATE BY               WHERE\n"
            "0     a-master-0  Running  step 3  2s     98%  3 MiB   1.5 ms, last 9 of 10  "
            "train.py:8: waits "
            "in all_reduce\n"
            "1     a-worker-0  -        -       -      -    -       -                     -\n");
}

TEST(RenderRanks, GpusHaveAColumnWhereTheyAreMeasured) {
  std::vector<RankState> ranks(2);
  ranks[0].instance = ranks[1].instance = "a-master-0";
  ranks[1].rank = 1;
  ranks[1].gpu = GpuUse{98.4, 3.0 * (1 << 30)};
  EXPECT_EQ(RenderRanks(ranks),
            "RANK  INSTANCE    STATE  STEP  QUIET  CPU  MEMORY  GPU            LATE BY  WHERE\n"
            "0     a-master-0  -      -     -      -    -       -              -        -\n"
            "1     a-master-0  -      -     -      -    -       98%, 3072 MiB  -        -\n");
  const text::Json json = RanksToJson(ranks);
  EXPECT_TRUE(json.as_array()[0].at("gpu").is_null());
  EXPECT_DOUBLE_EQ(json.as_array()[1].at("gpu").as_double(), 0.984);
  EXPECT_EQ(json.as_array()[1].at("gpuMemoryBytes").as_int64(), int64_t{3} << 30);
}

TEST(RenderRanks, OfAnotherClusterWithWaitsRestartsAndLastLines) {
  std::vector<RankState> ranks(3);
  for (int i = 0; i < 3; ++i) ranks[static_cast<size_t>(i)].rank = i;
  ranks[0].instance = "a-master-0";
  ranks[0].state = "Pending";
  ranks[0].waits = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.";
  ranks[0].last_line = "old";
  for (size_t i = 1; i < 3; ++i) {
    ranks[i].instance = "a-worker-0";
    ranks[i].state = "Running";
    ranks[i].restarts = 2;
    ranks[i].last_end = "OOMKilled";
    ranks[i].last_line = "step 3";
    ranks[i].instance_use = PodUse{1.5, 7 << 20};
  }
  EXPECT_EQ(
      RenderDistantRanks(ranks),
      "RANK  INSTANCE    STATE    RESTARTS       STEP  QUIET  CPU          MEMORY        SAYS\n"
      "0     a-master-0  Pending  0              -     -      -            -             0/3 "
      "nodes are available: 3 Insufficient nvidia.com/gpu.\n"
      "1     a-worker-0  Running  2 (OOMKilled)  -     -      150% in all  7 MiB in all  step "
      "3\n"
      "2     a-worker-0  Running  2 (OOMKilled)  -     -                                 step "
      "3\n");
}

}  // namespace
}  // namespace arena
