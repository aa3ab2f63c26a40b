#include "arena/logs/rank_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(Ranks, OnesAndRanges) {
  const auto ranks = ParseRanks("3,5-7");
  ASSERT_TRUE(ranks);
  for (const int rank : {3, 5, 6, 7}) EXPECT_TRUE(Contains(*ranks, rank)) << rank;
  for (const int rank : {0, 4, 8}) EXPECT_FALSE(Contains(*ranks, rank)) << rank;
  for (const char* bad : {"", "x", "1-", "-1", "3-1", "1,,2", "99999999999"}) {
    EXPECT_FALSE(ParseRanks(bad)) << bad;
  }
}

class ChosenLinesTest : public testing::Test {
 protected:
  std::string Of(LineChoice choice, std::vector<std::string_view> pieces, bool has_stamps) {
    cli::StringOutput out;
    ChosenLines lines(out, std::move(choice), "j-master-0", has_stamps);
    for (const std::string_view piece : pieces) EXPECT_TRUE(lines.Write(piece));
    EXPECT_TRUE(lines.Finish());
    return out.text();
  }
  const RankMap two_{{"j-master-0", "j-worker-0"}, 1};
  const RankMap four_{{"j-master-0", "j-worker-0"}, 2};
};

TEST_F(ChosenLinesTest, OfInstances) {
  EXPECT_EQ(two_.InstancesOf({{1, 1}}), std::vector<std::string>{"j-worker-0"});
  const LineChoice choice{{{1, 1}}, "", two_};
  EXPECT_FALSE(choice.Wants("j-master-0", "a"));
  EXPECT_TRUE(choice.Wants("j-worker-0", "b"));
  EXPECT_FALSE(choice.Wants("j-evaluator-0", "c"));
}

TEST_F(ChosenLinesTest, OfRanksInAnInstance) {
  EXPECT_EQ(four_.InstancesOf({{1, 2}}).size(), 2u);
  EXPECT_EQ(Of({{{1, 1}}, "", four_},
               {"T [rank0]:a\nT [ra", "nk1]:b\nT launcher\nT [rank11]:c\nT [rank1]:d"}, true),
            "T [rank1]:b\nT [rank1]:d");
}

TEST_F(ChosenLinesTest, OfRanksInTheTrialsOfASweep) {
  const RankMap trials{{"j-master-0"}, 2, true};
  EXPECT_EQ(
      Of({{{1, 1}}, "", trials},
         {"[lr=1] [rank0]:a\n[lr=1] [rank1]:b\n[lr=1] c\n2 of 2\n[x=[y] ] [rank1]:d\n"}, false),
      "[lr=1] [rank1]:b\n[x=[y] ] [rank1]:d\n");
}

TEST_F(ChosenLinesTest, WithAText) {
  EXPECT_EQ(Of({{}, "loss", two_}, {"step 1\nloss 2\n"}, false), "loss 2\n");
}

TEST(RankOf, TheMarkThatPyTorchAddsIsTakenAwayToo) {
  const RankMap two{{"j-master-0"}, 2};
  const auto text = [&](std::string_view line) {
    EXPECT_EQ(RankOf(two, "j-master-0", line), 1);
    return std::string(line);
  };
  EXPECT_EQ(text("[rank1]:[rank1]: Traceback (most recent call last):"),
            "Traceback (most recent call last):");
  EXPECT_EQ(text("[rank1]:[rank1]:   File \"a.py\", line 3"), "  File \"a.py\", line 3");
  EXPECT_EQ(text("[rank1]:[rank0]: sent to me"), "[rank0]: sent to me");
}

TEST(RankOf, ByPrefixOrInstance) {
  const RankMap two{{"j-master-0", "j-worker-0"}, 1};
  const RankMap four{{"j-master-0", "j-worker-0"}, 2};
  const auto of = [](const RankMap& map, std::string_view line) {
    const auto rank = RankOf(map, "j-worker-0", line);
    return std::pair(rank.value_or(-1), std::string(line));
  };
  EXPECT_EQ(of(two, "a"), std::pair(1, std::string("a")));
  EXPECT_EQ(of(four, "[rank3]: a"), std::pair(3, std::string("a")));
  EXPECT_EQ(of(four, "[rank3]:a"), std::pair(3, std::string("a")));
  EXPECT_EQ(of(four, "[rankle] a"), std::pair(-1, std::string("[rankle] a")));
  EXPECT_EQ(of(four, "a"), std::pair(-1, std::string("a")));
}

TEST(RankOf, OfARankAmongItsInstances) {
  const RankMap four{{"j-master-0", "j-worker-0"}, 2};
  std::string_view line = "[local-rank1]:a";
  EXPECT_EQ(RankOf(four, "j-worker-0", line), 3);
  EXPECT_EQ(line, "a");
  line = "[local-rank2]:a";
  EXPECT_FALSE(RankOf(four, "j-worker-0", line));
}

TEST(TakeBar, IsTheLaunchersWordOfARank) {
  const RankMap two{{"j-master-0", "j-worker-0"}, 2};
  const auto bar = TakeBar(two, "j-master-0", "[rank1]> 40%|###\n");
  ASSERT_TRUE(bar);
  EXPECT_EQ(bar->rank, 1);
  EXPECT_EQ(bar->text, "40%|###");
  EXPECT_EQ(TakeBar(two, "j-worker-0", "[local-rank1]> 4")->rank, 3);
  EXPECT_FALSE(TakeBar(two, "j-worker-0", "[rank1]: 40%"));
  EXPECT_FALSE(TakeBar(two, "j-worker-0", "[rank1] > 40%"));
  EXPECT_FALSE(TakeBar({{"j-master-0"}, 1}, "j-master-0", "[rank0]> quoted"));
}

class ColourTerminal : public cli::StringOutput {
 public:
  bool HasColour() const override { return true; }
};

TEST(ChosenLines, ColourRanksAndReportBars) {
  ColourTerminal out;
  ChosenLines lines(out, {{}, "", {{"j-master-0"}, 2}}, "j-master-0", false);
  std::string bars;
  lines.SetOnBar([&](const RankBar& bar) { bars += fmt::format("{}:{} ", bar.rank, bar.text); });
  ASSERT_TRUE(lines.Write("[rank0]:a\n[rank1]> 40%\nlauncher\n[rank1]:b"));
  ASSERT_TRUE(lines.Finish());
  EXPECT_EQ(out.text(), "\x1b[36m[rank0]:\x1b[0ma\nlauncher\n\x1b[33m[rank1]:\x1b[0mb");
  EXPECT_EQ(bars, "0: 1:40% 1: ");
}

TEST(RankMap, OfAJob) {
  const auto job = text::ParseJson(R"({"metadata": {"name": "j"}, "spec": {"nprocPerNode": "2",
    "pytorchReplicaSpecs": {"Worker": {"replicas": 2}, "Master": {}}}})");
  ASSERT_TRUE(job);
  const RankMap map = RankMap::Of(*job);
  EXPECT_EQ(map.instances, (std::vector<std::string>{"j-master-0", "j-worker-0", "j-worker-1"}));
  EXPECT_EQ(map.size(), 6);
}

}  // namespace
}  // namespace arena
