#include "arena/history/ranks.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

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
  EXPECT_EQ(RenderRanks(ranks, 0).table,
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
  EXPECT_EQ(RenderRanks(ranks, 0).table,
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
      RenderDistantRanks(ranks, 0).table,
      "RANK  INSTANCE    STATE    RESTARTS       STEP  QUIET  CPU          MEMORY        SAYS\n"
      "0     a-master-0  Pending  0              -     -      -            -             0/3 "
      "nodes are available: 3 Insufficient nvidia.com/gpu.\n"
      "1     a-worker-0  Running  2 (OOMKilled)  -     -      150% in all  7 MiB in all  step "
      "3\n"
      "2     a-worker-0  Running  2 (OOMKilled)  -     -                                 step "
      "3\n");
}

size_t WidestOf(const std::string& table) {
  size_t widest = 0;
  for (size_t at = 0, end; (end = table.find('\n', at)) != std::string::npos; at = end + 1) {
    widest = std::max(widest, end - at);
  }
  return widest;
}

std::vector<RankState> BusyRanks() {
  std::vector<RankState> ranks(2);
  for (RankState& rank : ranks) {
    rank.instance = "bert-large-worker-11";
    rank.state = "Running";
    rank.step = "iteration 120000";
    rank.quiet = std::chrono::minutes(12);
    rank.cpu = 1.02;
    rank.memory = int64_t{81'234} << 20;
    rank.gpu = GpuUse{98.4, 3.0 * (1 << 30)};
    rank.late = answers::Lateness{100, 97, std::chrono::milliseconds(140)};
    rank.place = "train.py:88";
    rank.doing = "waits in all_gather_into_tensor";
  }
  return ranks;
}

TEST(RenderRanks, FitsTheTerminalAndSaysWhatItLeavesOut) {
  std::vector<RankState> ranks = BusyRanks();
  const RanksText whole = RenderRanks(ranks, WidestOf(RenderRanks(ranks, 0).table));
  EXPECT_EQ(whole.table, RenderRanks(ranks, 0).table);
  EXPECT_TRUE(whole.left_out.empty());
  for (const size_t width : {60u, 80u, 100u, 120u, 140u}) {
    const RanksText text = RenderRanks(ranks, width);
    EXPECT_LE(WidestOf(text.table), width) << text.table;
    EXPECT_TRUE(text.table.starts_with("RANK  ")) << text.table;
    EXPECT_NE(text.table.find("train.py:88"), std::string::npos) << text.table;
  }
  EXPECT_EQ(RenderRanks(ranks, 80).left_out,
            (std::vector<std::string>{"STATE", "INSTANCE", "MEMORY", "GPU", "LATE BY"}));
  ranks[1].state = "Stopped";
  const RanksText stopped = RenderRanks(ranks, 80);
  EXPECT_NE(stopped.table.find("Stopped"), std::string::npos) << stopped.table;
  EXPECT_LE(WidestOf(stopped.table), 80u) << stopped.table;
  for (RankState& rank : ranks) rank.last_line = std::string(300, 'x');
  EXPECT_LE(WidestOf(RenderDistantRanks(ranks, 80).table), 80u);
  ranks[0].doing = "spricht über Schönes";
  const std::string table = RenderRanks(ranks, 80).table;
  EXPECT_NE(table.find("train.py:88: spricht"), std::string::npos) << table;
  EXPECT_TRUE(base::IsUtf8(table)) << table;
}

}  // namespace
}  // namespace arena
