#include "runs/progress/rank_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace runs {
namespace {

constexpr int64_t kStart = 1'764'000'000;

RankSample Look(int64_t at, int rank, int64_t cpu) {
  RankSample sample;
  sample.at = at;
  sample.rank = rank;
  sample.cpu = cpu;
  sample.memory = 2100;
  sample.io = 40;
  sample.quiet = 1;
  return sample;
}

// So many ranks, as often as they are looked at.
std::vector<RankSample> Looks(size_t ranks, int64_t seconds) {
  std::vector<RankSample> samples;
  for (int64_t at = 0; at < seconds; at += SecondsBetweenLooks(ranks)) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      samples.push_back(Look(kStart + at, static_cast<int>(rank), 100 + at % 2));
    }
  }
  return samples;
}

TEST(RankHistory, LooksAreReadAsTheyWereWritten) {
  std::vector<RankSample> samples = {Look(kStart, 0, 98), Look(kStart, 7, 0),
                                     Look(kStart + 1, 0, 101)};
  samples[1].quiet.reset();
  samples[1].role = StallRole::kLate;
  samples[2].role = StallRole::kWaits;
  EXPECT_EQ(ReadRankLines(RankLines(samples)), samples);
}

TEST(RankHistory, MalformedLinesArePassedOver) {
  const std::string good = RankLines({Look(kStart, 0, 98)});
  for (const char* bad : {"t x\n0 1 2 3 4\n", "0 1 2 3\n", "-1 1 2 3 4\n", "0 1 2 3 x\n",
                          "9999999 1 2 3 4\n", "0 99999999999999999999 2 3 4\n", "\n", "\xff\n"}) {
    EXPECT_EQ(ReadRankLines(good + bad).size(), 1u) << bad;
  }
  EXPECT_EQ(ReadRankLines(good + "0 98 21").size(), 1u);
  EXPECT_TRUE(ReadRankLines("0 98 2100 40 1\n").empty());  // of no time
}

TEST(RankHistory, AnHourOfAnyNumberOfRanksIsBounded) {
  for (const size_t ranks : {1u, 8u, 64u, 2048u}) {
    const size_t bytes = RankLines(Looks(ranks, 3600)).size();
    EXPECT_LT(bytes, kMostRankBytesOfAnHour + 100'000) << ranks;
  }
  EXPECT_EQ(SecondsBetweenLooks(8), 1);
}

TEST(RankHistory, OldLooksBecomeFewer) {
  const std::vector<RankSample> thinned = Thinned(Looks(1, 13 * 3600));
  std::map<int64_t, int64_t> by_gap;
  for (size_t i = 1; i < thinned.size(); ++i) ++by_gap[thinned[i].at - thinned[i - 1].at];
  EXPECT_NEAR(static_cast<double>(by_gap[1]), 3600, 10);
  EXPECT_NEAR(static_cast<double>(by_gap[10]), 3600, 10);
  EXPECT_NEAR(static_cast<double>(by_gap[60]), 120, 5);
  EXPECT_EQ(thinned.front().cpu, 100);  // of 100 and 101
  EXPECT_EQ(Thinned(thinned).size(), thinned.size());
}

TEST(RankHistory, AFewLooksThatBecomeOneKeepTheWorst) {
  RankSample late = Look(kStart, 0, 0);
  late.role = StallRole::kLate;
  late.quiet = 90;
  const std::vector<RankSample> thinned =
      Thinned({late, Look(kStart + 1, 0, 100), Look(kStart + 2 * 3600, 0, 100)});
  ASSERT_EQ(thinned.size(), 2u);
  EXPECT_EQ(thinned[0].role, StallRole::kLate);
  EXPECT_EQ(thinned[0].quiet, 90);
  EXPECT_EQ(thinned[0].cpu, 50);
}

TEST(RankHistory, AGridHasARowForEachRankAndGapsWhereNothingRan) {
  const text::Json grid = RankGrid(
      {Look(kStart, 0, 50), Look(kStart, 1, 100), Look(kStart + 1, 0, 150), Look(kStart + 7, 0, 1)},
      240);
  EXPECT_EQ(text::GetInt(grid, {"from"}), 1000 * kStart);
  EXPECT_EQ(text::GetInt(grid, {"step"}), 1000);
  const text::Array& ranks = *text::FindArray(grid, {"ranks"});
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(text::ToJson(*text::Find(ranks[0], {"cpu"})),
            "[0.5,1.5,null,null,null,null,null,0.01]");
  EXPECT_EQ(text::ToJson(*text::Find(ranks[1], {"memoryBytes"})),
            "[2202009600,null,null,null,null,null,null,null]");
}

TEST(RankHistory, ALookThatComesLateCoversTheTimeSinceTheOneBefore) {
  const text::Json grid =
      RankGrid({Look(kStart, 0, 50), Look(kStart + 3, 0, 100), Look(kStart + 9, 0, 100)}, 240);
  EXPECT_EQ(text::ToJson(*text::Find(text::FindArray(grid, {"ranks"})->front(), {"cpu"})),
            "[0.5,1,1,1,null,null,null,null,null,1]");
}

TEST(RankHistory, AGridIsNoLargerThanAScreen) {
  EXPECT_EQ(text::FindArray(RankGrid(Looks(2, 7200), 1'000'000), {"ranks"})->size(), 2u);
  for (const size_t ranks : {2u, 2048u}) {
    const text::Json grid = RankGrid(Looks(ranks, 7200), 1'000'000);
    const text::Array& rows = *text::FindArray(grid, {"ranks"});
    const size_t columns = text::FindArray(rows[0], {"cpu"})->size();
    EXPECT_LE(columns, static_cast<size_t>(kMostColumns));
    EXPECT_LE(columns * rows.size(), kMostCells);
    for (const text::Json& value : *text::FindArray(rows[0], {"cpu"})) {
      EXPECT_FALSE(value.is_null());  // what was looked at more seldom leaves no gaps
    }
  }
  EXPECT_TRUE(text::FindArray(RankGrid({}, 240), {"ranks"})->empty());
}

TEST(RankHistory, TheMeanUseIsOfTheRanksThatShowIt) {
  RankSample of_other_machine;
  of_other_machine.gpu = 40;
  const MeanUse use = MeanOf({Look(kStart, 0, 98), Look(kStart, 1, 2), of_other_machine});
  EXPECT_EQ(use.cpu, 50);
  EXPECT_EQ(use.gpu, 40);
  EXPECT_EQ(MeanOf({}), MeanUse());
}

TEST(RankHistory, WhatALookDidNotReportIsNull) {
  RankSample sample;
  sample.at = 1000;
  sample.quiet = 7;
  const auto read = ReadRankLines(RankLines({sample}));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0], sample);
  const text::Json grid = RankGrid(read, 10);
  const text::Json& rank = grid.at("ranks").as_array().at(0);
  EXPECT_TRUE(rank.at("cpu").as_array().at(0).is_null());
  EXPECT_EQ(rank.at("quietSeconds").as_array().at(0), 7);
}

TEST(RankHistory, LooksThatAreFarApartByIntentLeaveNoGap) {
  RankSample sample;
  std::vector<RankSample> samples;
  for (const int64_t at : {1000, 1030, 1060}) {
    sample.at = at;
    sample.cpu = 100;
    samples.push_back(sample);
  }
  const auto gaps = [&](std::optional<int64_t> between) {
    const text::Json grid = RankGrid(samples, 60, between);
    const text::Array& cpu = grid.at("ranks").as_array().at(0).at("cpu").as_array();
    return std::count_if(cpu.begin(), cpu.end(), [](const auto& value) { return value.is_null(); });
  };
  EXPECT_EQ(gaps(30), 0);
  EXPECT_GT(gaps(std::nullopt), 0);
}

}  // namespace
}  // namespace runs
