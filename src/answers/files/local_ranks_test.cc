// Whole logs: the ranks of a node's processes.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "answers/files/read_log.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"

namespace answers {
namespace {

TEST(LocalRanks, OfALocalRankTheNodesAgentKnowsTheGlobalOne) {
  const auto log = [](const std::string& global, const std::string& error) {
    return "[default] Rendezvous complete for workers. Result:\n  local_ranks=[0, 1]\n"
           "  role_ranks=[0, 1]\n  global_ranks=" +
           global + "\n[default1]:Traceback (most recent call last):\n" +
           "[default1]:  File \"/w/a.py\", line 3, in f\n[default1]:" + error + "\n";
  };
  const std::string lost = "RuntimeError: Connection closed by peer [10.0.0.7]:123";
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"n1.log", log("[0, 1]", lost)}, {"n2.log", log("[2, 3]", "KeyError: 'k'")}})),
            3);
  const std::string both = "  local_ranks=[0, 1]\n  global_ranks=[0, 1]\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", both + log("[2, 3]", "KeyError: 'k'")}})),
            std::nullopt);
}

// SkyPilot's "rank" is that of the node.
TEST(LocalRanks, OfANodesLinesItsAgentNamesTheRank) {
  const auto node = [](const std::string& name, const std::string& text) {
    std::string lines;
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      lines += "(" + name + ") " + text.substr(at, end + 1 - at);
    }
    return lines;
  };
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  time      : 2023-08-05_13:59:34\n"
      "  host      : n2\n  rank      : 5 (local_rank: 1)\n  exitcode  : 1 (pid: 22640)\n";
  const std::string head = node("head, rank=0, pid=7", "step 1 loss 0.5\n");
  const std::string worker = "worker1, rank=1, pid=8, ip=10.0.0.2";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", head + node(worker, raised + table)}})), 5);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", head + node(worker, raised)}})), std::nullopt);
}

TEST(LocalRanks, OfTwoNodesLocalRanksNobodyKnowsTheGlobalOnes) {
  const std::string raised =
      "[default1]:Traceback (most recent call last):\n[default1]:  File \"/w/a.py\", line 3, in f\n"
      "[default1]:KeyError: 'k'\n"
      "failed (exitcode: 1) local_rank: 1 (pid: 320) of binary: /usr/bin/python\n";
  const std::string works = "[default0]:step 1 loss 0.5\n[default1]:step 1 loss 0.5\n";
  const Evidence two = ReadLogs({{"node-a.log", works}, {"node-b.log", raised}});
  EXPECT_EQ(Explain(two).line, "KeyError: 'k'");
  EXPECT_EQ(RankNamedIn(two), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.out", works}, {"job.err", raised}})), 1);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", works + raised}})), 1);
}

TEST(LocalRanks, DeepSpeedNamesTheRanksOfNodes) {
  const auto of_host = [](const std::string& host, int node, const std::string& mapping) {
    const std::string begin = host + "[2026-06-19 13:20:01,118] [INFO] [launch.py:150:main] ";
    return begin + "nnodes=2, num_local_procs=1, node_rank=" + std::to_string(node) + "\n" + begin +
           "global_rank_mapping=defaultdict(<class 'list'>, {" + mapping + "})\n";
  };
  const auto raised_by = [](const std::string& host) {
    return host + "Traceback (most recent call last):\n" + host +
           "  File \"/w/a.py\", line 3, in f\n" + host + "KeyError: 'k'\n";
  };
  const std::string one = "'node-a1': [0], 'node-b7': [1]",
                    two = "'node-a1': [0, 1], 'node-b7': [2, 3]";
  const auto rank_in = [&](const std::string& mapping) {
    return RankNamedIn(
        ReadLogs({{"job.log", of_host("node-a1: ", 0, mapping) + of_host("node-b7: ", 1, mapping) +
                                  raised_by("node-b7: ")}}));
  };
  EXPECT_EQ(rank_in(one), 1);
  EXPECT_EQ(rank_in(two), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", of_host("", 1, one) + raised_by("")}})), 1);
}

TEST(LocalRanks, ADeepSpeedsProcessOfOneNodeHasTheGpuOfItsRank) {
  const auto judge = [](const std::string& nodes, const std::string& gpu, const std::string& more) {
    return RankNamedIn(ReadLogs(
        {{"train.log",
          "[2024-05-25 01:00:05,232] [INFO] [launch.py:256:main] nnodes=" + nodes +
              ", num_local_procs=8, node_rank=0\n" + more +
              "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
              "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB "
              "(GPU " +
              gpu +
              "; 79.20 GiB total capacity; 74.00 GiB already allocated; 461.25 MiB free; "
              "78.60 GiB reserved in total by PyTorch)\n"
              "[2024-05-25 01:01:05,232] [ERROR] [launch.py:325:sigkill_handler] "
              "['python', 'a.py', '--local_rank=7'] exits with return code = 1\n"}}));
  };
  EXPECT_EQ(judge("1", "5", ""), 5);
  EXPECT_EQ(judge("2", "5", ""), std::nullopt);
  EXPECT_EQ(judge("1", "0", ""), std::nullopt) << "which all use that have not chosen theirs";
  EXPECT_EQ(judge("1", "9", ""), std::nullopt);
  EXPECT_EQ(judge("1", "5", "CUDA out of memory. Tried to allocate 1 GiB (GPU 4; x)\n"),
            std::nullopt);
}

TEST(LocalRanks, TheGpuOfADeepSpeedsNodeIsOfItsGlobalRank) {
  const auto of_host = [](const std::string& host, const std::string& text) {
    return host + ": " + text + "\n";
  };
  const std::string begin = "[2024-06-02 03:11:03,601] [INFO] [launch.py:145:main] ";
  const std::string mapping =
      "global_rank_mapping=defaultdict(<class 'list'>, {'n-0': [0, 1, 2, 3], 'n-1': [4, 5, 6, 7]})";
  std::string log;
  for (const std::string host : {"n-0", "n-1"}) {
    log += of_host(host, begin + "nnodes=2, num_local_procs=4, node_rank=" + host.back());
    log += of_host(host, begin + mapping);
  }
  for (const std::string& line :
       {std::string("Traceback (most recent call last):"),
        std::string("  File \"/w/a.py\", line 3"),
        std::string("RuntimeError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 3; 39.59 "
                    "GiB total capacity; 36.11 GiB already allocated; 812.19 MiB free)")}) {
    log += of_host("n-1", line);
  }
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", log}})), 7);
}

}  // namespace
}  // namespace answers
