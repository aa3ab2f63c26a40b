#include "answers/exit_finding.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <tuple>

#include "answers/files/read_log.h"
#include "answers/signal_words.h"

namespace answers {
namespace {

TEST(SignalWords, AreThoseOfShells) {
  const std::string bash = "train.sh: line 3: 21681 ";
  EXPECT_EQ(SignalOfShell("Killed"), 9);
  EXPECT_EQ(SignalOfShell("Aborted (core dumped)"), 6);
  EXPECT_EQ(SignalOfShell(bash + "Aborted                 (core dumped) python train.py"), 6);
  EXPECT_EQ(SignalOfShell(bash + "Floating point exception(core dumped) python train.py"), 8);
  EXPECT_EQ(SignalOfShell("bash: line 1:  7 CPU time limit exceeded python train.py"), 24);
  EXPECT_EQ(SignalOfShell("zsh: bus error  python train.py"), 7);
  for (const char* const other :
       {"Killed 3 zombies in game", "train.sh: line 3: Killed: command not found", "",
        "worker: line 7: 12 batches Killed", "Terminated early: loss is flat"}) {
    EXPECT_EQ(SignalOfShell(other), std::nullopt) << other;
  }
  EXPECT_EQ(SignalIn("exited on SIGBUS"), 7);
}

TEST(ExitFinding, AnAbortsLineIsTheExceptionThatNothingCaught) {
  const auto line_of = [](const std::string& log) {
    const auto found = FindInRank(ReadLogs({{"log", log + "Aborted\n"}}).ranks.at(0));
    return found ? found->line : "";
  };
  EXPECT_EQ(line_of("start\nterminate called after throwing an instance of 'std::runtime_error'\n"
                    "  what():  no such shard: 7\n"),
            "what():  no such shard: 7");
  EXPECT_EQ(line_of("start\n"), "Aborted");
}

TEST(ExitFinding, ABusErrorIsACrashThatAFullShmExplains) {
  Rank rank;
  rank.exit_code = 128 + SIGBUS;
  EXPECT_EQ(FindInRank(rank)->kind, "native-crash");
  EXPECT_EQ(FindInRank(rank)->confidence, Confidence::kLow);
  EXPECT_TRUE(WouldWitnessesDecide(rank));
  rank.witnesses.push_back({std::nullopt, "/dev/shm", "/dev/shm is full (64 MiB)"});
  EXPECT_EQ(FindInRank(rank)->kind, "shm-too-small");
  EXPECT_EQ(FindInRank(rank)->confidence, Confidence::kMedium);
  rank.exit_code = 128 + SIGSEGV;
  EXPECT_EQ(FindInRank(rank)->kind, "native-crash");
}

TEST(ExitFinding, AShellsWordIsTheEnd) {
  const auto kind_of = [](const std::string& word) {
    const auto found = FindInRank(
        ReadLogs({{"log", "starting\nrun.sh: line 3: 4711 " + word + " python train.py\n"}})
            .ranks.at(0));
    return found ? std::tuple(std::string(found->kind), found->level)
                 : std::tuple(std::string(), Level::kUndecided);
  };
  EXPECT_EQ(kind_of("Segmentation fault     "), std::tuple("native-crash", Level::kDeciding));
  EXPECT_EQ(kind_of("Floating point exception"), std::tuple("native-crash", Level::kDeciding));
  EXPECT_EQ(kind_of("Illegal instruction    "), std::tuple("python-mismatch", Level::kDeciding));
  EXPECT_EQ(kind_of("CPU time limit exceeded"), std::tuple("deadline", Level::kDeciding));
  EXPECT_EQ(kind_of("File size limit exceeded"), std::tuple("disk-full", Level::kDeciding));
  EXPECT_EQ(kind_of("Bad system call        "), std::tuple("permission", Level::kDeciding));
  EXPECT_EQ(kind_of("Terminated             "), std::tuple("", Level::kUndecided));
  EXPECT_EQ(kind_of("Killed                 "), std::tuple("unknown", Level::kUndecided));
}

TEST(ExitFinding, ARequestToEndMayBeAHelpers) {
  const auto end_of = [](const std::string& log, std::optional<int> code) {
    Rank rank = ReadLogs({{"log", log}}).ranks.at(0);
    rank.exit_code = code;
    return ExitOf(rank);
  };
  EXPECT_EQ(end_of("starting\nHangup\n", std::nullopt), 128 + 1);
  EXPECT_EQ(end_of("starting\nTerminated\n", std::nullopt), 128 + 15);
  EXPECT_EQ(end_of("starting\nTerminated\n", 3), 3);
  EXPECT_EQ(end_of("no split vall\nrun.sh: line 5: 4711 Terminated sleep 1000\n", std::nullopt),
            std::nullopt);
  EXPECT_EQ(end_of("starting\nrun.sh: line 5: 4711 Killed python train.py\n", 1), 128 + 9);
}

TEST(ExitFinding, WorkAfterAShellsWordIsNoEnd) {
  const Evidence evidence = ReadLogs({{"log", "Killed\nstep 7 loss 0.1\n"}});
  EXPECT_EQ(ExitOf(evidence.ranks.at(0)), std::nullopt);
}

}  // namespace
}  // namespace answers
