#include "arena/logs/rank_lines.h"

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
  std::string Of(ChosenLines::Choice choice, std::vector<std::string_view> pieces) {
    cli::StringOutput out;
    ChosenLines lines(out, std::move(choice));
    for (const std::string_view piece : pieces) EXPECT_TRUE(lines.Write(piece));
    EXPECT_TRUE(lines.Finish());
    return out.text();
  }
  const RankMap two_{{"j-master-0", "j-worker-0"}, 1};
  const RankMap four_{{"j-master-0", "j-worker-0"}, 2};
};

TEST_F(ChosenLinesTest, OfInstances) {
  EXPECT_EQ(two_.InstancesOf({{1, 1}}), std::vector<std::string>{"j-worker-0"});
  EXPECT_EQ(Of({{{1, 1}}, "", two_, "", false},
               {"[j-master-0] a\n[j-wor", "ker-0] b\n", "\x1b[36m[j-worker-0]\x1b[0m c"}),
            "[j-worker-0] b\n\x1b[36m[j-worker-0]\x1b[0m c");
}

TEST_F(ChosenLinesTest, OfRanksInAnInstance) {
  EXPECT_EQ(four_.InstancesOf({{1, 2}}).size(), 2u);
  EXPECT_EQ(Of({{{1, 1}}, "", four_, "j-master-0", true},
               {"T [rank0]:a\nT [rank1]:b\nT launcher\nT [rank11]:c\n"}),
            "T [rank1]:b\n");
}

TEST_F(ChosenLinesTest, WithAText) {
  EXPECT_EQ(Of({{}, "loss", two_, "j-master-0", false}, {"step 1\nloss 2\n"}), "loss 2\n");
  EXPECT_EQ(Of({{}, "j-", two_, "", false}, {"[j-master-0] loss\n"}), "") << "of the text alone";
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
