#include "answers/log/launcher_words.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

struct LaunchersWord {
  const char* line;
  int rank, exit_code;
};
constexpr LaunchersWord kLaunchersWords[] = {
    {"srun: error: gpu-03: task 5: Exited with exit code 2", 5, 2},
    {"srun: error: gpu-03: task 5: Out Of Memory", 5, 137},
    {"srun: error: gpu-03: task 5: Segmentation fault (core dumped)", 5, 139},
    {"[rank: 1] Child process with PID 42 terminated with code 1. Forcefully terminating all", 1,
     1},
    {"-- Process 3 terminated with the following error:", 3, 1},
    {"torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGKILL",
     2, 137},
    {"torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with exit code 4", 2,
     4},
    {"ERROR:__main__:process 2 terminated with exit code 4", 2, 4},
    {"caught \"process 2 terminated with signal SIGKILL\"", 2, 137},
    {"ERROR:composer.cli.launcher:Rank 1 crashed with exit code -9.", 1, 137},
    {"mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).", 1,
     137},
    {"ERROR:  One or more process (first noticed rank 5) terminated with signal 11", 5, 139},
    {"x4217c5s2b0n0: rank 5 died from signal 11 and dumped core", 5, 139},
    {"[n1:mpispawn_5][child_handler] MPI process (rank: 85, pid: 33026) exited with status 1", 85,
     1},
    {"[n1:mpispawn_0][child_handler] MPI process (rank: 2, pid: 33026) terminated with signal 11 "
     "-> "
     "abort job",
     2, 139},
    {"Exception in device=TPU:3: Aborted: Session 1a is not found.", 3, 17},
    {"E0302 10:11:12.0 41 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: "
     "-11) local_rank: 3 (pid: 42) of binary: /usr/bin/python3",
     3, 139},
};

TEST(LauncherWords, NameARankAndItsEnd) {
  for (const LaunchersWord& word : kLaunchersWords) {
    const LauncherWords words = ReadLauncherWords({"step 1", word.line});
    ASSERT_EQ(words.rows.size(), 1U) << word.line;
    EXPECT_EQ(words.rows[0].rank, word.rank) << word.line;
    EXPECT_EQ(words.rows[0].exit_code, word.exit_code) << word.line;
    EXPECT_EQ(words.first_rank, word.rank) << word.line;
  }
}

TEST(LauncherWords, ALargeNumberIsThatOfAProcess) {
  EXPECT_TRUE(ReadLauncherWords({"process 4711 terminated with exit code 1"}).rows.empty());
}

TEST(LauncherWords, AProcessThatIsStartedAgainIsNoRank) {
  const std::string_view ended = "process 3 terminated with exit code 1";
  EXPECT_EQ(ReadLauncherWords({"step 3 loss 0.2", ended, "bye"}).first_rank, 3);
  EXPECT_TRUE(ReadLauncherWords({"step 3 loss 0.2", ended, "step 4 loss 0.1"}).rows.empty());
  EXPECT_TRUE(ReadLauncherWords({"WARNING data worker process 3 terminated with exit code 1"})
                  .rows.empty());
}

TEST(LauncherWords, AMessageOfMpirunMayBeBroken) {
  for (const std::string_view end : {"exited on", "node n1"}) {
    const std::string whole =
        "mpirun noticed that process rank 2 with PID 7 on node n1 exited on signal 6 (Aborted).";
    const size_t at = whole.find(end) + end.size();
    const std::string first = whole.substr(0, at), second = whole.substr(at + 1);
    const LauncherWords words = ReadLauncherWords({"hello", first, second});
    ASSERT_EQ(words.rows.size(), 1U) << first;
    EXPECT_EQ(words.first_rank, 2) << first;
    EXPECT_EQ(words.rows[0].exit_code, 134) << first;
  }
}

TEST(LauncherWords, TheAgentSaysHowARowEndsThatTheLogHasCut) {
  const LauncherWords words = ReadLauncherWords(
      {"[ERROR] failed (exitcode: -9) local_rank: 1 (pid: 42) of binary: /usr/bin/python3",
       "Root Cause (first observed failure):", "[0]:", "  time      : 2024-03-26_16:50:50",
       "  host      : n1", "  rank      : 5 (local_rank: 1)"});
  ASSERT_EQ(words.rows.size(), 1U);
  EXPECT_EQ(words.first_rank, 5);
  EXPECT_EQ(words.rows[0].exit_code, 137);
  EXPECT_EQ(words.rows[0].pid, 42);
}

TEST(LauncherWords, TheAgentNamesTheRankOfARowThatTheLogHasCut) {
  const LauncherWords words = ReadLauncherWords(
      {"failed (exitcode: -11) local_rank: 6 (pid: 320) of binary: /usr/bin/python",
       "traceback : Signal 11 (SIGSEGV) received by PID 320"});
  ASSERT_EQ(words.rows.size(), 1U);
  EXPECT_EQ(words.first_rank, 6);
  EXPECT_EQ(words.rows[0].exit_code, 139);
}

TEST(LauncherWords, TheAgentSaysWhichGlobalRanksItsLocalOnesAre) {
  const std::vector<std::string_view> agent = {
      "[default] Rendezvous complete for workers. Result:", "  local_ranks=[0, 1]",
      "  role_ranks=[2, 3]", "  global_ranks=[2, 3]",
      "failed (exitcode: 1) local_rank: 1 (pid: 320) of binary: /usr/bin/python"};
  EXPECT_EQ(ReadRanksOfLocals(agent), (RanksOfLocals{{0, 2}, {1, 3}}));
  EXPECT_EQ(ReadLauncherWords(agent).first_rank, 3);
  std::vector<std::string_view> two = {"  local_ranks=[0, 1]", "  global_ranks=[0, 1]"};
  two.insert(two.end(), agent.begin(), agent.end());
  EXPECT_EQ(ReadRanksOfLocals(two), (RanksOfLocals{{0, std::nullopt}, {1, std::nullopt}}));
  EXPECT_FALSE(ReadLauncherWords(two).first_rank) << "the agents of two nodes";
  EXPECT_TRUE(
      ReadRanksOfLocals({"local_ranks=[0, 1", "local_ranks=[x]", "global_ranks=[2]"}).empty());
}

TEST(LauncherWords, WhatPalsEndedItselfIsNotTheFirst) {
  EXPECT_EQ(
      ReadLauncherWords({"x42: rank 0 died from signal 15", "x42: rank 5 died from signal 11"})
          .first_rank,
      5);
}

TEST(LauncherWords, OpenMpiNamesTheRankWhoseProgramItDidNotFind) {
  EXPECT_EQ(ReadLauncherWords({"did not launch the job.  This error was first reported for process",
                               "rank 3; it may have occurred for other processes as well."})
                .first_rank,
            3);
  EXPECT_EQ(
      ReadLauncherWords({"not launch the job.  This error was first reported for process rank",
                         "2; it may have occurred for other processes as well."})
          .first_rank,
      2);
  EXPECT_EQ(ReadLauncherWords({"", "while attempting to start process rank 1."}).first_rank, 1);
}

// Its launcher prints the command of the process that it started last.
TEST(LauncherWords, DeepSpeedsCommandNamesNoRank) {
  const LauncherWords words = ReadLauncherWords(
      {"[2026-03-02 10:11:15,001] [ERROR] [launch.py:325:sigkill_handler] ['/opt/python', '-u', "
       "'train.py', '--local_rank=7'] exits with return code = -11"});
  ASSERT_EQ(words.rows.size(), 1U);
  EXPECT_EQ(words.rows[0].exit_code, 139);
  EXPECT_FALSE(words.rows[0].rank);
  EXPECT_FALSE(words.first_rank);
}

TEST(LauncherWords, TheNameOfAProcessIsARankBeforeAnExitCode) {
  for (const char* const name : {"  Process name: [[29973,1],3]", "Process name: 3",
                                 "   Process name: [prterun-n1-4201@1,3]"}) {
    EXPECT_EQ(ReadLauncherWords({"first process:", name, "Exit code: 1"}).first_rank, 3) << name;
    EXPECT_FALSE(ReadLauncherWords({"first process:", name}).first_rank) << name;
    EXPECT_FALSE(ReadLauncherWords({name, "bye"}).first_rank) << name;
  }
}

TEST(LauncherWords, WhoWasToldToEndWasNotFirst) {
  EXPECT_EQ(ReadLauncherWords({"srun: error: n1: task 0: Terminated",
                               "srun: error: n1: task 3: Exited with exit code 1"})
                .first_rank,
            3);
}

TEST(LauncherWords, SrunWritesBehindAProgressBar) {
  const LauncherWords words = ReadLauncherWords(
      {"Epoch 0:   0%|          | 0/356 [00:13<?, ?it/s] srun: error: n1: task 3: Killed",
       "srun: error: n1: task 2: Exited with exit code 1"});
  EXPECT_EQ(words.first_rank, 3);
  EXPECT_EQ(words.rows.at(0).host, "n1");
  EXPECT_TRUE(ReadLauncherWords({"do not fear srun: error: n1: task 3: Killed"}).rows.empty());
}

TEST(LauncherWords, OfSeveralTasksNobodyKnowsTheFirst) {
  EXPECT_TRUE(
      ReadLauncherWords({"srun: error: n1: tasks 0-7: Exited with exit code 1"}).rows.empty());
}

TEST(LauncherWords, OfManyTasksThatEndedAlikeNoneIsTheFirst) {
  EXPECT_FALSE(ReadLauncherWords({"srun: error: n0: tasks 2-7: Exited with exit code 1",
                                  "srun: error: n1: task 14: Exited with exit code 1"})
                   .first_rank);
  EXPECT_EQ(ReadLauncherWords({"srun: error: n1: task 14: Exited with exit code 1",
                               "srun: error: n0: tasks 2-7: Terminated"})
                .first_rank,
            14);
}

}  // namespace
}  // namespace answers
