#include "answers/peers/gathered_error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"
#include "base/strings.h"

namespace answers {
namespace {

std::string RaisedBy(int by, const std::string& keys, const std::string& sections) {
  std::string log;
  for (const std::string& line : base::Split(
           "Traceback (most recent call last):\n  File \"/w/train.py\", line 31, in <module>\n"
           "    dcp.load(state)\n"
           "torch.distributed.checkpoint.api.CheckpointException: CheckpointException "
           "ranks:dict_keys([" +
               keys + "])\n" + sections,
           '\n')) {
    log += fmt::format("[rank{}]: {}\n", by, line);
  }
  return log;
}

std::string Section(int rank, const std::string& error) {
  return fmt::format(
      "Traceback (most recent call last): (RANK {})\n"
      "  File \"/x/site-packages/torch/distributed/checkpoint/utils.py\", line 204, in "
      "reduce_scatter\n    local_data = map_fun()\n{}\n",
      rank, error);
}

std::string Table(int first) {
  return fmt::format(
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-02_10:11:04\n"
      "  host      : n1\n  rank      : {0} (local_rank: {0})\n  exitcode  : 1 (pid: 4)\n",
      first);
}

const std::string kTruncated = "EOFError: Ran out of input";

std::pair<std::string, std::optional<int>> KindAndRank(const std::string& log) {
  const Evidence evidence = ReadLogs({{"job.log", log}});
  const Verdict verdict = Explain(evidence);
  return {verdict.kind, verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt};
}

using Answer = std::pair<std::string, std::optional<int>>;

TEST(GatheredError, ItsKeysAreTheRanks) {
  EXPECT_EQ(RanksOfGathered("E: CheckpointException ranks:dict_keys([3, 7])"),
            (std::set<int>{3, 7}));
  EXPECT_TRUE(RanksOfGathered("E: CheckpointException ranks:dict_keys([])").empty());
  EXPECT_TRUE(RanksOfGathered("E: CheckpointException ranks:dict_keys([3, x])").empty());
  EXPECT_TRUE(RanksOfGathered("E: CheckpointException ranks:dict_keys([3, 7").empty());
  EXPECT_TRUE(RanksOfGathered("the ranks:dict_keys([3])").empty());
}

TEST(GatheredError, NamesTheRankWhicheverTheLauncherSawFirst) {
  const std::string of_seven = Section(7, kTruncated);
  EXPECT_EQ(KindAndRank(RaisedBy(0, "7", of_seven) + RaisedBy(7, "7", of_seven) + Table(0)),
            Answer("checkpoint-corrupt", 7));
  EXPECT_EQ(KindAndRank(RaisedBy(0, "7", of_seven) + Table(0)), Answer("checkpoint-corrupt", 7))
      << "which has printed nothing";
}

TEST(GatheredError, TheCauseMayStandInTheLogOfThatRankOnly) {
  const std::string own =
      "[rank7]: Traceback (most recent call last):\n"
      "[rank7]:   File \"/w/train.py\", line 9, in read\n"
      "[rank7]: " +
      kTruncated + "\n";
  EXPECT_EQ(KindAndRank(own + RaisedBy(0, "7", "") + Table(0)), Answer("checkpoint-corrupt", 7));
  EXPECT_EQ(KindAndRank(RaisedBy(0, "7", "") + Table(0)), Answer("exception", 7));
}

TEST(GatheredError, OfSeveralRanksNamesOnlyOneThatTheLauncherNames) {
  const std::string both = Section(3, kTruncated) + Section(7, kTruncated);
  EXPECT_EQ(KindAndRank(RaisedBy(0, "3, 7", both) + Table(0)),
            Answer("checkpoint-corrupt", std::nullopt));
  EXPECT_EQ(KindAndRank(RaisedBy(0, "3, 7", both) + RaisedBy(7, "3, 7", both) + Table(7)),
            Answer("checkpoint-corrupt", 7));
}

TEST(GatheredError, AProcessWithoutOthersCallsItselfRankZero) {
  const std::string alone = Section(0, kTruncated);
  EXPECT_EQ(KindAndRank("[rank0]: loading\n" + RaisedBy(5, "0", alone) + Table(5)),
            Answer("checkpoint-corrupt", 5));
  EXPECT_EQ(KindAndRank(RaisedBy(0, "0", alone) + RaisedBy(5, "0", alone) + Table(5)),
            Answer("checkpoint-corrupt", 0));
}

TEST(GatheredError, IsNotTheCauseOfAnotherException) {
  EXPECT_EQ(KindAndRank(RaisedBy(1, "7", Section(7, kTruncated)) +
                        "[rank1]: step 1 loss 0.5\n[rank1]: step 2 loss 0.5\n"
                        "[rank1]: Traceback (most recent call last):\n"
                        "[rank1]:   File \"/w/train.py\", line 40, in step\n"
                        "[rank1]: KeyError: 'k'\n" +
                        Table(1)),
            Answer("exception", 1))
      << "the program went on without the checkpoint";
}

}  // namespace
}  // namespace answers
