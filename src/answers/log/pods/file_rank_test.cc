#include "answers/log/pods/file_rank.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

using Ranks = std::vector<std::optional<int>>;

TEST(FileRank, ByWordsAndFolders) {
  EXPECT_EQ(RanksOfFiles({"out/rank_3.log", "attempt_0/12/stderr.log", "1/rank.7/stdout",
                          "train.log", "node1.log"}),
            (Ranks{3, 12, 7, std::nullopt, std::nullopt}));
}

TEST(FileRank, OfSeveralRanksInANameTheJobsCounts) {
  EXPECT_EQ(
      RanksOfFiles({"nemo_log_globalrank-2_localrank-0.txt", "log_local_rank_1_global_rank_5.txt",
                    "rank3_tp_rank_1.log", "worker-0_rank-5.log", "rank_7/node_1.log"}),
      (Ranks{2, 5, 3, 5, 7}));
  EXPECT_EQ(RanksOfFiles({"rank_1/localrank-2.txt", "tp_rank_1_pp_rank_0.log", "noderank2.log"}),
            Ranks(3));
  EXPECT_EQ(RanksOfFiles({"map_rank_3.log", "rank.log"}), (Ranks{3, std::nullopt}));
}

TEST(FileRank, VertexAiCountsTheReplicasOfItsPools) {
  EXPECT_EQ(RankOfPod("workerpool0-0", false), 0);
  EXPECT_EQ(RankOfPod("workerpool1-0", false), 1);
  EXPECT_EQ(RankOfPod("workerpool1-11", false), 12);
  for (const char* const other :
       {"workerpool0-1", "workerpool2-0", "workerpool1-", "workerpool1-x", "service"}) {
    EXPECT_EQ(RankOfPod(other, false), std::nullopt) << other;
  }
}

TEST(FileRank, AFolderOfANumberIsARanksWhereItsSiblingsAreCounted) {
  EXPECT_EQ(RanksOfFiles({"2024/train.txt"}), (Ranks{std::nullopt}));
  EXPECT_EQ(RanksOfFiles({"job/17/log.txt", "job/18/log.txt"}),
            (Ranks{std::nullopt, std::nullopt}));
  EXPECT_EQ(RanksOfFiles({"rank_1/2023/out.txt"}), (Ranks{1}));
  EXPECT_EQ(RanksOfFiles({"r/0/stdout", "r/1/stdout", "r/1/stderr"}), (Ranks{0, 1, 1}));
}

TEST(FileRank, ByPods) {
  EXPECT_EQ(RanksOfFiles({"job-master-0.log", "job-worker-0.log", "job-worker-2.txt"}),
            (Ranks{0, 1, 3}));
  EXPECT_EQ(RanksOfFiles({"job-worker-0.log"}), (Ranks{0}));
  EXPECT_EQ(RanksOfFiles({"job-worker-0"}), (Ranks{std::nullopt})) << "the job knows its master";
  EXPECT_EQ(RanksOfFiles({"ml_job-master-0_c3d4/pytorch/0.log",
                          "ml_job-worker-1_e5f6/pytorch/0.log", "a_b/c/0.log"}),
            (Ranks{0, 2, std::nullopt}));
  EXPECT_EQ(RanksOfFiles({"train-node-0-2-x7f2k.log", "train-node-0-3.log"}), (Ranks{2, 3}));
}

TEST(FileRank, ByTheNodesOfATrainJob) {
  EXPECT_EQ(RankOfNode("gpt2-node-0-2-p9bkd"), 2);
  EXPECT_EQ(RankOfNode("gpt2-node-0-12"), 12);
  for (const char* const other :
       {"gpt2-node-1-2-p9bkd", "gpt2-node-0-2-p9", "gpt2-node-0-x-p9bkd", "gpt2-launcher-0-0-p9bkd",
        "node-0-2-p9bkd", "gpt2-node-0-2-p9bkd-x"}) {
    EXPECT_EQ(RankOfNode(other), std::nullopt) << other;
  }
  EXPECT_EQ(
      RanksOfFiles({"a-node-0-0-k2f7x.log", "a-node-0-1-p9bkd.log", "a-launcher-0-0-bcdfg.log"}),
      Ranks(3))
      << "mpirun counts the launcher, too";
}

TEST(FileRank, ByTheNumberInWhichNamesDiffer) {
  EXPECT_EQ(RanksOfFiles({"slurm-8812-0.out", "slurm-8812-5.out", "slurm-8812.err"}),
            (Ranks{0, 5, std::nullopt}));
  EXPECT_EQ(RanksOfFiles({"slurm-8812.out", "slurm-9001.err"}),
            (Ranks{std::nullopt, std::nullopt}));
  EXPECT_EQ(RanksOfFiles({"node-0.log", "node-1.log", "x/gpu01.log", "x/gpu02.log"}),
            (Ranks{std::nullopt, std::nullopt, std::nullopt, std::nullopt}));
  EXPECT_EQ(RanksOfFiles({"epoch 1", "epoch 2"}), Ranks(2));
}

TEST(FileRank, ByThePodInANameOfK9s) {
  EXPECT_EQ(RanksOfFiles({"ml-foo-master-0-1718806000118201000.log",
                          "ml-foo-worker-1-1718806000118301000.log"}),
            (Ranks{0, 2}));
}

TEST(FileRank, RanksOfNodesAreNone) {
  EXPECT_EQ(RanksOfFiles({"job-n1.out", "job-n3.out", "job-cn12.out", "job-cn7.out"}), Ranks(4));
  EXPECT_EQ(RanksOfFiles({"n0.out", "n3.out"}), (Ranks{0, 3})) << "Slurm's %n";
  EXPECT_EQ(RanksOfFiles({"node_rank_0.log", "node_rank_1.log"}), Ranks(2));
  EXPECT_EQ(RanksOfFiles({"noderank0.log", "noderank1.log"}), Ranks(2));
  EXPECT_EQ(RanksOfFiles({"n0_local_rank_0.log", "n0_local_rank_1.log", "n1_local_rank_0.log",
                          "n1_local_rank_1.log"}),
            Ranks(4));
  EXPECT_EQ(RanksOfFiles({"local_rank_0.log", "local_rank_1.log"}), (Ranks{0, 1}));
}

TEST(FileRank, NumbersThatTwoHostsShareAreLocalRanks) {
  const Ranks none(4);
  EXPECT_EQ(RanksOfFiles({"gpu-a-0.log", "gpu-a-1.log", "gpu-b-0.log", "gpu-b-1.log"}), none);
  EXPECT_EQ(RanksOfFiles({"n1_0.out", "n1_1.out", "n12_0.out", "n12_1.out"}), none);
  EXPECT_EQ(RanksOfFiles({"n1_0.out", "n1_1.out", "n2_2.out", "n2_3.out"}), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(RanksOfFiles({"stdout_0.log", "stdout_1.log", "stderr_0.log", "stderr_1.log"}),
            (Ranks{0, 1, 0, 1}));
}

}  // namespace
}  // namespace answers
