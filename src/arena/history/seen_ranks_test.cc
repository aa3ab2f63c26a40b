#include "arena/history/seen_ranks.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

RankState Running(int rank, const std::string& instance) {
  RankState state;
  state.rank = rank;
  state.instance = instance;
  state.state = "Running";
  return state;
}

base::Time At(int64_t second) { return base::Time(std::chrono::seconds(1'795'000'000 + second)); }

TEST(SeenRanks, SaysWhatItSawAndFromWhom) {
  SeenRanks seen(std::chrono::seconds(10));
  EXPECT_TRUE(seen.Grid(10).is_null());
  RankState first = Running(0, "a"), second = Running(1, "a"), waiting = Running(2, "b");
  first.instance_use = second.instance_use = PodUse{3.0, 400 << 20};
  first.quiet = std::chrono::seconds(12);
  waiting.state = "Pending";
  seen.Note(At(0), {first, second, waiting});
  const text::Json grid = seen.Grid(10);
  const text::Array& ranks = grid.at("ranks").as_array();
  ASSERT_EQ(ranks.size(), 2u) << "one does not run";
  EXPECT_EQ(ranks[0].at("cpu").as_array().at(0), 1.5) << "an equal part";
  EXPECT_EQ(ranks[1].at("memoryBytes").as_array().at(0), 200 << 20);
  EXPECT_EQ(ranks[0].at("quietSeconds").as_array().at(0), 12);
  EXPECT_TRUE(ranks[1].at("quietSeconds").as_array().at(0).is_null());
  EXPECT_TRUE(ranks[0].at("ioBytesPerSecond").as_array().at(0).is_null());
  EXPECT_NE(text::GetString(grid, {"source"}).find("metrics.k8s.io (of an instance, divided"),
            std::string_view::npos);
}

TEST(SeenRanks, IsBoundedAndKeepsTimesInOrder) {
  SeenRanks seen(std::chrono::seconds(10));
  std::vector<RankState> ranks;
  for (int i = 0; i < 50'000; ++i) ranks.push_back(Running(i, "a"));
  for (int64_t second = 0; second < 100; second += 10) seen.Note(At(second), ranks);
  seen.Note(At(-500), ranks);  // the clock has gone back
  const text::Json grid = seen.Grid(240);
  EXPECT_EQ(text::GetInt(grid, {"from"}), 1'795'000'000'000);
  EXPECT_GE(*text::GetInt(grid, {"step"}), 20'000) << "every second look was forgotten";
}

}  // namespace
}  // namespace arena
