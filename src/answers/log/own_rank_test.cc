// Whole logs: the environment that a process shows.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "answers/files/read_log.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"

namespace answers {
namespace {

TEST(OwnRank, TheEnvironmentThatAWorkersLogShows) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string shown = "LOCAL_RANK=2\nRANK=6\nWORLD_SIZE=8\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"gpu-b-2.log", shown + raised},
                                  {"gpu-b-3.log", "LOCAL_RANK=3\nRANK=7\nstep 1 loss 0.5\n"}})),
            6);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log",
                                   "declare -x LOCAL_RANK=\"1\"\n"
                                   "declare -x RANK=\"3\"\n" +
                                       raised}})),
            3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", "RANK=1\nWORLD_SIZE=2\n" + raised}})), std::nullopt)
      << "an operator's, of a pod with several processes";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", shown + "LOCAL_RANK=3\nRANK=7\n" + raised}})),
            std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", "LOCAL_RANK=2\nRANK=6\nWORLD_SIZE=4\n" + raised}})),
            std::nullopt);
}

TEST(OwnRank, ACommandToTryIsNoEnvironment) {
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"job.log",
                  "Start each process, for example:\n  RANK=3 LOCAL_RANK=1 python train.py\n"
                  "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
                  "KeyError: 'k'\n"}})),
            std::nullopt);
}

TEST(OwnRank, TheFirstRankOfANodeMayShowItsEnvironmentInTheLogOfAll) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string shown = "LOCAL_RANK=0\nRANK=4\nWORLD_SIZE=8\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", shown + raised}})), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", shown + "LOCAL_WORLD_SIZE=1\n" + raised}})), 4);
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"x.log", shown + raised}, {"y.log", "LOCAL_RANK=0\nRANK=5\nWORLD_SIZE=8\n"}})),
            4);
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"x.log", shown + raised}, {"y.log", "LOCAL_RANK=0\nRANK=0\nWORLD_SIZE=8\n"}})),
            std::nullopt)
      << "the first ranks of two nodes";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", "LOCAL_RANK=0\nRANK=1\nWORLD_SIZE=2\n" + raised}})), 1);
}

}  // namespace
}  // namespace answers
