#include "answers/log/node_task.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string FailedBehind(const std::string& prefix) {
  return prefix + "Traceback (most recent call last):\n" + prefix +
         "  File \"/w/train.py\", line 3, in f\n" + prefix + "KeyError: 'k'\n";
}

constexpr std::string_view kSrunsEnd = "srun: error: n1: task 1: Exited with exit code 1\n";

std::optional<int> RankOfTasks(const std::string& log) {
  const Evidence evidence = ReadLogs({{"job.log", log + std::string(kSrunsEnd)}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "exception");
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

std::string AgentOf(int node) {
  const std::string prefix = fmt::format(
      "{}: I0302 10:11:04.120000 41 torch/distributed/elastic/agent/server/api.py:525] ", node);
  return prefix + "[default] Rendezvous complete for workers. Result:\n" + prefix +
         "  local_ranks=[0, 1]\n" + prefix +
         fmt::format("  global_ranks=[{}, {}]\n", 2 * node, 2 * node + 1);
}

TEST(NodeTask, TheAgentOfEachTaskSaysWhichRanksItHas) {
  EXPECT_EQ(RankOfTasks(AgentOf(0) + AgentOf(1) + "0: [default0]:step 1\n" +
                        FailedBehind("1: [default1]:")),
            3);
}

TEST(NodeTask, ItsTableSaysWhichRankFailed) {
  const std::string table =
      "1: Root Cause (first observed failure):\n1: [0]:\n1:   rank      : 3 (local_rank: 1)\n"
      "1:   exitcode  : 1 (pid: 4)\n";
  EXPECT_EQ(RankOfTasks("0: [default0]:step 1\n" + FailedBehind("1: [default1]:") + table), 3);
}

TEST(NodeTask, OtherwiseNobodyKnows) {
  EXPECT_EQ(RankOfTasks("0: [default0]:step 1\n" + FailedBehind("1: [default1]:")), std::nullopt);
  EXPECT_EQ(RankOfTasks("0: starting\n1: [default1]:step 1\n" + FailedBehind("1: [default1]:")),
            std::nullopt);
}

TEST(NodeTask, MpirunsMayBeNodesToo) {
  const std::string end =
      "mpirun noticed that process rank 1 with PID 7 on node n1 exited on signal 9 (Killed).\n"
      "  Process name: [[29973,1],1]\n  Exit code:    1\n";
  EXPECT_EQ(RankOfTasks("[1,0]<stdout>:[default0]:step 1\n" +
                        FailedBehind("[1,1]<stderr>:[default1]:") + end),
            std::nullopt);
  EXPECT_EQ(RankOfTasks("[1,0]<stdout>:step 1\n" + FailedBehind("[1,1]<stderr>:") + end), 1);
}

TEST(NodeTask, RanksOfTheirOwnTagsStay) {
  EXPECT_EQ(RankOfTasks("0: [rank0]: step 1\n1: [rank3]: step 1\n" + FailedBehind("1: [rank3]: ")),
            3);
  EXPECT_EQ(RankOfTasks("0: [rank0]: step 1\n1: [rank3]: step 1\n" + FailedBehind("1: ")),
            std::nullopt);
}

TEST(NodeTask, SeveralRanksOfOneTask) {
  EXPECT_EQ(RankOfTasks("1: [rank0]: step 1\n1: [rank1]: step 1\n" + FailedBehind("1: ")),
            std::nullopt)
      << "the nodes have another order than the tasks";
}

TEST(NodeTask, ATaskWithOneRankIsTheRank) {
  EXPECT_EQ(RankOfTasks("0: step 1\n3: [rank0]: Connection closed\n" + FailedBehind("1: ")), 1)
      << "a line that came from another";
  EXPECT_EQ(RankOfTasks("0: step 1\n1: step 1\n" + FailedBehind("1: ")), 1);
  EXPECT_EQ(RankOfTasks("0: [rank0]: step 1\n1: [rank1]: step 1\n" + FailedBehind("1: ")), 1);
  EXPECT_EQ(
      RankOfTasks("0: [default0]:step 1\n1: [default0]:step 1\n" + FailedBehind("1: [default0]:")),
      1);
}

}  // namespace
}  // namespace answers
