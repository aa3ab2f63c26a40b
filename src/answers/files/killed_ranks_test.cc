// Whole logs: whom the kernel killed.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "answers/files/read_log.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string HydrasBlock(int rank, const std::string& end) {
  const std::string ruler(83, '=');
  return ruler + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK " +
         std::to_string(rank) + " PID " + std::to_string(5490 + rank) +
         " RUNNING AT n1\n=   " + end + "\n" + ruler + "\n";
}

TEST(KilledRanks, WhomHydraKilledIsNotWhoRaised) {
  const Evidence evidence = ReadLogs({{"job.log",
                                       "step 1 loss 0.5\nTraceback (most recent call last):\n"
                                       "  File \"/w/train.py\", line 12, in main\n"
                                       "ValueError: rank 0 found no label\n\n" +
                                           HydrasBlock(1, "KILLED BY SIGNAL: 9 (Killed)")}});
  EXPECT_EQ(Explain(evidence).kind, "exception");
  EXPECT_EQ(RankNamedIn(evidence), std::nullopt);
}

TEST(KilledRanks, TheKernelSaysWhichOfThoseThatHydraListsItKilled) {
  const std::string killed = "KILLED BY SIGNAL: 9 (Killed)";
  const Evidence evidence = ReadLogs(
      {{"dmesg",
        "[8123.1] Memory cgroup out of memory: Killed process 5491 (python3.11) "
        "total-vm:91234kB, anon-rss:81234kB\n"},
       {"out.log", "step 1 loss 0.5\n" + HydrasBlock(0, killed) + HydrasBlock(1, killed)}});
  EXPECT_EQ(Explain(evidence).kind, "host-out-of-memory");
  EXPECT_EQ(RankNamedIn(evidence), 1);
}

TEST(KilledRanks, TheOnlyOneThatTheKernelCanHaveMeant) {
  const std::string spawned =
      "Traceback (most recent call last):\n  File \"/w/main.py\", line 8, in <module>\n"
      "    mp.spawn(train, nprocs=4)\n"
      "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal "
      "SIGKILL\n";
  const std::string killed =
      "[811.2] Out of memory: Killed process 712 (python3) total-vm:91234kB, anon-rss:81234kB\n";
  const auto judge = [](const std::string& log, const std::string& kernels) {
    const Evidence evidence = ReadLogs({{"dmesg.txt", kernels}, {"train.log", log}});
    EXPECT_EQ(Explain(evidence).kind, "host-out-of-memory");
    return RankNamedIn(evidence);
  };
  EXPECT_EQ(judge(spawned, killed), 1);
  EXPECT_EQ(
      judge(spawned, killed + "[812.2] Out of memory: Killed process 9 (java) total-vm:9kB\n"),
      std::nullopt);
  const auto of_gpu = [](const std::string& more) {
    const std::string failed =
        ": Traceback (most recent call last):\n[rank5]:   File \"/w/a.py\", line 3, in step\n"
        "[rank5]: RuntimeError: CUDA error: unspecified launch failure\n";
    const Evidence evidence =
        ReadLogs({{"n1-dmesg.log",
                   "[Tue Mar  3 00:00:02 2026] NVRM: Xid (PCI:0000:c1:00): 48, pid=812, "
                   "name=python3, DBE (double bit error) ECC Error\n"},
                  {"train.log", "[rank4]: step 1\n[rank5]" + failed + more}});
    EXPECT_EQ(Explain(evidence).kind, "gpu-hardware");
    return RankNamedIn(evidence);
  };
  EXPECT_EQ(of_gpu(""), 5);
  EXPECT_EQ(of_gpu("[rank4]:[E303 00:10:00.1 ProcessGroupNCCL.cpp:629] [Rank 4] Watchdog caught "
                   "collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLGATHER)\n"),
            5);
  EXPECT_EQ(of_gpu("[rank4]: Traceback (most recent call last):\n"
                   "[rank4]:   File \"/w/a.py\", line 3, in step\n"
                   "[rank4]: RuntimeError: CUDA error: unspecified launch failure\n"),
            std::nullopt);
}

TEST(KilledRanks, TheOnlyProcessThatTheKernelKilledIsTheOnlyRankThatWasKilled) {
  const std::string dmesg =
      "[8123.0] python invoked oom-killer: gfp_mask=0xcc0, order=0, oom_score_adj=0\n"
      "[8123.1] Out of memory: Killed process 5003 (python) total-vm:91234kB\n";
  const std::string spawned =
      "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal "
      "SIGKILL\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"dmesg.txt", dmesg}, {"train.log", spawned}})), 2);
  const std::string another = "[8123.2] Out of memory: Killed process 5004 (python) total-vm:9kB\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"dmesg.txt", dmesg + another}, {"train.log", spawned}})),
            std::nullopt);
}

TEST(KilledRanks, DeepSpeedsLauncherKnowsWhomTheKernelKilled) {
  const auto judge = [](const std::string& nodes) {
    const std::string begin = "[2024-05-25 01:00:05,232] [INFO] [launch.py:256:main] ";
    return RankNamedIn(ReadLogs(
        {{"dmesg.txt",
          "[81.1] Out of memory: Killed process 73670 (python) total-vm:9kB, anon-rss:8kB\n"},
         {"train.log",
          begin + "nnodes=" + nodes + ", num_local_procs=2, node_rank=0\n" + begin +
              "process 73669 spawned with command: ['python', 'a.py', '--local_rank=1']\n" + begin +
              "process 73670 spawned with command: ['python', 'a.py', '--local_rank=2']\n" + begin +
              "Killing subprocess 73670\n"}}));
  };
  EXPECT_EQ(judge("1"), 2);
  EXPECT_EQ(judge("2"), std::nullopt);
}

}  // namespace
}  // namespace answers
