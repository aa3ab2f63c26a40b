#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "answers/exit_finding.h"
#include "answers/files/read_log.h"
#include "answers/stall/stall.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"
#include "answers/witness_line.h"
#include "base/strings.h"

namespace answers {
namespace {

const std::string kBoom =
    "Traceback (most recent call last):\n"
    "  File \"/w/train.py\", line 88, in <module>\n    main()\n"
    "  File \"/w/loop.py\", line 12, in step\n    loss = model(x)\n"
    "  File \"/usr/lib/python3/dist-packages/torch/nn/modules/module.py\", line 1518, in "
    "_call_impl\n"
    "ValueError: boom\n";
const std::string kPeer =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 88, in <module>\n"
    "RuntimeError: [pair.cc:534] Connection closed by peer [127.0.0.1]:5213\n";

base::Time At(int seconds) { return base::Time(std::chrono::seconds(1'700'000'000 + seconds)); }

Rank RankOf(int rank, int exit_code, int at, const std::string& text) {
  Rank made;
  made.rank = rank;
  made.name = "pt-worker-" + std::to_string(rank);
  made.exit_code = exit_code;
  made.ended = At(at);
  made.lines = ReadLines(text, 1000);
  return made;
}

Verdict OfLog(const std::string& text) { return Explain(ReadLogs({{"log", text}})); }

TEST(Explain, NamesTheUsersLine) {
  const Verdict verdict = Explain({.ranks = {RankOf(0, 1, 5, kBoom)}});
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.line, "ValueError: boom");
  EXPECT_EQ(verdict.file, "/w/loop.py");
  EXPECT_EQ(verdict.file_line, 12);
  EXPECT_EQ(verdict.function, "step");
  EXPECT_EQ(verdict.advice, Advice::kFixFirst);
}

TEST(Explain, APortThatAnotherRankThanTheFirstOpensIsTheStores) {
  const std::string taken =
      "Traceback (most recent call last):\n"
      "  File \"/w/train.py\", line 16, in <module>\n"
      "  File \"/opt/torch/distributed/rendezvous.py\", line 296, in _env_rendezvous_handler\n"
      "torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
      "network address. port: 23466, useIpv6: false, code: -98, name: EADDRINUSE, message: address "
      "already in use\n";
  const Verdict verdict = Explain({.ranks = {RankOf(1, 1, 5, taken)}});
  EXPECT_EQ(verdict.kind, "port-in-use");
  EXPECT_EQ(verdict.advice, Advice::kFixFirst);
  EXPECT_NE(verdict.advice_text.find("took itself for rank 0"), std::string::npos);
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 1, 5, taken)}}).advice, Advice::kRetry);
}

TEST(Explain, OfAJobWhosePodsAreGoneRepeatsWhatTheJobSays) {
  const Verdict verdict =
      Explain({.job_reason = "PyTorchJobFailed", .job_message = "Job j has failed because x"});
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.title, "it failed, and these data do not say why");
  EXPECT_EQ(verdict.line, "Job j has failed because x");
}

TEST(Explain, NamesTheContainerThatIsNotTheTrainings) {
  Rank rank = RankOf(1, 3, 5, "proxy: upstream gone\n");
  rank.container = "proxy";
  EXPECT_EQ(NameOf(rank), "rank 1 (pt-worker-1, container proxy)");
  rank.has_log = false;
  rank.why_no_log = "you may not";
  EXPECT_EQ(Explain({.ranks = {rank}}).missing[0],
            "the log of rank 1 (pt-worker-1, container proxy): you may not");
}

TEST(Explain, NamesTheUsersLineThatTorchCompiled) {
  const char* const kLog =
      "[rank0]:E1126 06:04:39.907000 2874 torch/_subclasses/fake_tensor.py:2908] [0/0] Traceback "
      "(most recent call last):\n"
      "[rank0]:E1126 06:04:39.907000 2874 torch/_subclasses/fake_tensor.py:2908] [0/0]   File "
      "\"/opt/venv/lib/python3.12/site-packages/torch/_check.py\", line 17, in _check_with\n"
      "[rank0]:E1126 06:04:39.907000 2874 torch/_subclasses/fake_tensor.py:2908] [0/0] "
      "RuntimeError: a and b must have same reduction dim, but got [4, 5] X [7, 3].\n"
      "[rank0]:Traceback (most recent call last):\n"
      "[rank0]:  File \"/opt/venv/lib/python3.12/site-packages/torch/_dynamo/exc.py\", line 6, in "
      "f\n"
      "[rank0]:    raise Unsupported(\n"
      "[rank0]:torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call\n"
      "[rank0]:  Explanation: Dynamo failed to run FX node with fake tensors\n"
      "[rank0]:\n"
      "[rank0]:from user code:\n"
      "[rank0]:   File \"/code/train.py\", line 3, in step\n"
      "[rank0]:    def step(x): return x @ torch.ones(7, 3)\n";
  const Evidence evidence = ReadLogs({{"train.log", kLog}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "shape-mismatch");
  EXPECT_EQ(verdict.file_line, 3);
  EXPECT_EQ(evidence.ranks[verdict.rank.value()].name, "train.log");
}

TEST(Explain, AProgramThatTheUsersLineRanIsNoLauncher) {
  const auto raised_in = [](const std::string& file, const std::string& program = "python3") {
    return "Traceback (most recent call last):\n  File \"" + file +
           "\", line 7, in <module>\n    run(command)\n"
           "  File \"/usr/lib/python3.11/subprocess.py\", line 571, in run\n"
           "subprocess.CalledProcessError: Command '['" +
           program + "', 'x']' returned non-zero exit status 2.\n";
  };
  const auto kind_of = [&](const std::string& file, const std::string& program) {
    return Explain({.ranks = {RankOf(0, 1, 5, raised_in(file, program))}}).kind;
  };
  const Verdict verdict = Explain({.ranks = {RankOf(0, 1, 5, raised_in("/w/train.py"))}});
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.file, "/w/train.py");
  EXPECT_EQ(verdict.file_line, 7);
  for (const char* launcher : {"/usr/local/bin/accelerate", "/v/site-packages/torch/launch.py"}) {
    EXPECT_EQ(kind_of(launcher, "/usr/bin/python3.11"), kUnknown);
    EXPECT_EQ(kind_of(launcher, "accelerate"), kUnknown);
  }
  EXPECT_EQ(kind_of("/w/train.py", "torchrun"), kUnknown);
  EXPECT_EQ(kind_of("/w/train.py", "python3', '-m', 'torch.distributed.run"), kUnknown);
  // When a library runs a compiler, this is not the launch of a program.
  for (const char* compiler : {"/usr/bin/gcc", "x86_64-linux-gnu-g++-12", "ninja", "make"}) {
    EXPECT_EQ(kind_of("/v/bin/train-it", compiler), "exception") << compiler;
  }
}

TEST(Explain, AConsequenceNeverWins) {
  // Rank 0 has the earlier time, but it only lost its peer.
  const Verdict verdict = Explain({.ranks = {RankOf(0, 1, 4, kPeer), RankOf(1, 1, 5, kBoom)}});
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.kind, "exception");
  ASSERT_EQ(verdict.consequences.size(), 1u);
  EXPECT_EQ(verdict.consequences[0].source, "rank 0 (pt-worker-0)");
}

TEST(Explain, TheEarlierOfTwoCauses) {
  const std::string other =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'x'\n";
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 1, 9, kBoom), RankOf(1, 1, 7, other)}}).line,
            "KeyError: 'x'");
}

TEST(Explain, SymptomsAloneDecideNothing) {
  const Verdict verdict = Explain({.ranks = {RankOf(0, 1, 4, kPeer), RankOf(1, 1, 5, kPeer)}});
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  EXPECT_FALSE(verdict.rank);
}

TEST(Explain, OutOfMemoryByThePodsStatus) {
  Rank killed = RankOf(1, 137, 3, "step 1 loss 2\n");
  killed.reason = "OOMKilled";
  const Verdict verdict = Explain({.ranks = {RankOf(0, 1, 4, kPeer), killed}});
  EXPECT_EQ(verdict.kind, "host-out-of-memory");
  EXPECT_EQ(verdict.rank, 1u);
}

TEST(Explain, ARankThatWasDoneEarly) {
  const Verdict verdict = Explain({.ranks = {RankOf(0, 0, 2, "done\n"), RankOf(1, 1, 9, kPeer)}});
  EXPECT_EQ(verdict.kind, "ended-early");
  EXPECT_EQ(verdict.rank, 0u);
}

TEST(Explain, TheLaunchersWordsAreNoPartOfItsException) {
  const std::string log =
      "[rank0]:" + kPeer.substr(0, kPeer.find('\n')) +
      "\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
      "============\ntrain.py FAILED\n------------\nRoot Cause (first observed failure):\n[0]:\n"
      "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 7) \n============\n"
      "train.py: rank 0 of 2 failed first (local rank 0, pid 7, host h)\n"
      "  why       : rank 1 had ended with exit code 0 while rank 0 still waited for it (x)\n";
  EXPECT_EQ(Explain(ReadLogs({{"log", log}})).kind, "ended-early");
}

// The log of two ranks under muster-launch, of which the second failed first.
std::string LaunchersLog(const std::string& before, const std::string& code,
                         const std::string& explanation) {
  return before +
         "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
         "============\ntrain.py FAILED\n------------\nFailures:\n[1]:\n"
         "  rank      : 0 (local_rank: 0)\n  exitcode  : -15 (pid: 7)  (SIGTERM)\n"
         "------------\nRoot Cause (first observed failure):\n[0]:\n"
         "  rank      : 1 (local_rank: 1)\n  exitcode  : " +
         code +
         " (pid: 8) \n============\n"
         "train.py: rank 1 of 2 failed first (local rank 1, pid 8, host h)\n" +
         explanation;
}

TEST(Explain, OfRanksInOneLogTheExceptionThatTheLauncherNamesCounts) {
  const std::string log = LaunchersLog(
      "Exception in thread Thread-1 (work):\nTraceback (most recent call last):\n"
      "  File \"/w/train.py\", line 11, in work\n    raise ValueError(\"no server\")\n"
      "ValueError: no server\n"
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 16, in <module>\n"
      "    {}[\"rate\"]\nKeyError: 'rate'\n",
      "1", "  why       : KeyError: 'rate'\n");
  const Verdict verdict = Explain(ReadLogs({{"log", log}}));
  EXPECT_EQ(verdict.line, "KeyError: 'rate'");
  EXPECT_EQ(verdict.file_line, 16);
}

TEST(Explain, OfALongExceptionTheLauncherNamesTheBeginning) {
  const std::string begin = "ValueError: wide " + std::string(500, 'x');
  const std::string log = LaunchersLog(
      "Exception in thread Thread-1 (work):\nTraceback (most recent call last):\n"
      "  File \"/w/train.py\", line 11, in work\n    raise ValueError(\"no server\")\n"
      "ValueError: no server\n"
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 16, in <module>\n"
      "    raise ValueError(wide)\n" +
          begin + std::string(500, 'y') + "\n",
      "1", "  why       : " + begin + "...\n");
  EXPECT_EQ(Explain(ReadLogs({{"log", log}})).file_line, 16);
}

TEST(Explain, OfRanksInOneLogAnotherExceptionThanTheLaunchersNamesNoRank) {
  const std::string log = LaunchersLog(
      "Exception in thread Thread-1 (work):\nTraceback (most recent call last):\n"
      "  File \"/w/train.py\", line 11, in work\n    raise ValueError(\"no server\")\n"
      "ValueError: no server\n"
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 16, in <module>\n"
      "RuntimeError: [unbound_buffer.cc:81] Timed out waiting 8000ms for recv operation to "
      "complete\n",
      "1",
      "  why       : RuntimeError: [unbound_buffer.cc:81] Timed out waiting 8000ms for recv "
      "operation "
      "to complete\n");
  const Evidence evidence = ReadLogs({{"log", log}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.line, "ValueError: no server");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, std::nullopt);
  EXPECT_EQ(verdict.confidence, Confidence::kMedium);
}

TEST(Explain, WhatTheLauncherQuotesIsOfTheRankThatItNames) {
  const std::string frame =
      "  File \"/usr/lib/python3.11/multiprocessing/connection.py\", line 9, in recv\n";
  const std::string header = "Traceback (most recent call last):\n";
  const Evidence evidence = ReadLogs(
      {{"log", LaunchersLog(header + frame + "EOFError\n", "1",
                            "  why       : EOFError\n  evidence  : " + header + "            : " +
                                frame + "            : EOFError\n  what to do: fix it\n")}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
}

TEST(Explain, ANoteOfAnExceptionInOneLogIsNoWorkAfterIt) {
  const std::string log = LaunchersLog(
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 13, in <module>\n"
      "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central "
      "directory\nwhile loading epoch 3\n" +
          kPeer,
      "1",
      "  why       : RuntimeError: PytorchStreamReader failed reading zip archive: failed finding "
      "central directory\n");
  EXPECT_EQ(Explain(ReadLogs({{"log", log}})).kind, "checkpoint-corrupt");
}

TEST(Explain, ATelemetryIsNoRetry) {
  const std::string first =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 1, in f\n"
      "ValueError: telemetry gone\n";
  const std::string second =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 2, in g\nKeyError: 'rate'\n";
  const std::string log = LaunchersLog(first + second, "1", "  why       : KeyError: 'rate'\n");
  EXPECT_EQ(Explain(ReadLogs({{"log", log}})).line, "KeyError: 'rate'");
}

TEST(Explain, AThreadsExceptionDoesNotEndItsRank) {
  const std::string thread =
      "Exception in thread Thread-1 (work):\nTraceback (most recent call last):\n"
      "  File \"/w/train.py\", line 11, in work\nValueError: no server\n";
  const std::string own =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 16, in <module>\n"
      "KeyError: 'rate'\n";
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 143, 3, thread), RankOf(1, 1, 2, own)}}).line,
            "KeyError: 'rate'");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 143, 3, thread), RankOf(1, 1, 2, kPeer)}}).line,
            "ValueError: no server");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 4, 2, thread), RankOf(1, 1, 3, kPeer)}}).line,
            "ValueError: no server");
}

TEST(Explain, TheLauncherKnowsTheLastWordsOfARankInACommonLog) {
  const std::string log = LaunchersLog("no batch size\n" + kPeer, "1",
                                       "  why       : exit code 1, its last line: no batch size\n"
                                       "  evidence  : no batch size\n");
  const Verdict verdict = Explain(ReadLogs({{"log", log}}));
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.line, "no batch size");
}

TEST(Explain, TheLauncherKnowsWhereARankOfACommonLogCrashed) {
  const std::string log = LaunchersLog(
      "", "-11",
      "  why       : ended by signal 11 (SIGSEGV)\n"
      "  where     : Segmentation fault in string_at (__init__.py:519), called at File "
      "\"/w/train.py\", line 15 in <module>\n");
  const Verdict verdict = Explain(ReadLogs({{"log", log}}));
  EXPECT_EQ(verdict.kind, "native-crash");
  EXPECT_EQ(verdict.file, "/w/train.py");
  EXPECT_EQ(verdict.file_line, 15);
  EXPECT_TRUE(verdict.missing.empty());
  EXPECT_EQ(verdict.advice_text,
            "Suspect extensions that were built for another torch.");  // nor how to get the stack
  // The pod's witness says the same.
  const std::string again =
      "muster: witness: 2026-07-30T10:00:05Z Python's stack: rank 1: Segmentation fault in "
      "string_at "
      "(__init__.py:519), called at File \"/w/train.py\", line 15 in <module>\n";
  EXPECT_EQ(Explain(ReadLogs({{"log", log + again}})).evidence.size(), verdict.evidence.size());
}

TEST(Explain, ACrashSaysItsSignalAndAnOomKillWhoKilled) {
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 139, 3, "step 1 loss 2\n")}}).line,
            "ended by signal 11 (SIGSEGV)");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 129, 3, "step 1 loss 2\n")}}).line,
            "ended by signal 1 (SIGHUP)");
  Rank killed = RankOf(1, 137, 3, "step 1 loss 2\n");
  killed.reason = "OOMKilled";
  killed.message = "step 1 loss 2\ncontainer pytorch was killed: it used 720 MiB\n";
  EXPECT_EQ(Explain({.ranks = {killed}}).line,
            "OOMKilled: container pytorch was killed: it used 720 MiB");
  EXPECT_NE(Explain({.ranks = {killed}}).advice_text.find("--memory"), std::string::npos);
  killed.message =
      "  why       : killed by the kernel for want of memory (SIGKILL)\n"
      "  ended     : 1 more, because of it\n  report    : /tmp/t/failure.json\n";
  EXPECT_EQ(Explain({.ranks = {killed}}).line,
            "OOMKilled: killed by the kernel for want of memory (SIGKILL)");
}

TEST(Explain, AnOomKillForALimitAroundTheJobIsNotOfThePodsLimit) {
  Rank killed = RankOf(1, 137, 3, "step 1 loss 2\n");
  killed.reason = "OOMKilled";
  killed.message = "step 1 loss 2\ncontainer pytorch was killed: " + std::string(kNoMemoryAround);
  const Verdict verdict = Explain({.ranks = {killed}});
  EXPECT_EQ(verdict.kind, "host-out-of-memory");
  EXPECT_EQ(verdict.title, "the machine, or a limit around the job, had no memory left");
  EXPECT_EQ(verdict.advice_text.find("--memory"), std::string::npos);
}

TEST(Explain, WhatEndedAnEarlierAttemptOfTheLauncherIsSaidAsSuch) {
  const std::string other =
      "[rank1]:Traceback (most recent call last):\n"
      "[rank1]:  File \"/w/train.py\", line 9, in <module>\n[rank1]:KeyError: 'lr'\n";
  const std::string lost =
      "[rank0]:Traceback (most recent call last):\n"
      "[rank0]:  File \"/w/train.py\", line 8, in <module>\n"
      "[rank0]:RuntimeError: [pair.cc:534] Connection closed by peer [127.0.0.1]:5213\n";
  const std::string boom =
      "[rank0]:Traceback (most recent call last):\n"
      "[rank0]:  File \"/w/train.py\", line 88, in <module>\n[rank0]:ValueError: boom\n";
  const Evidence evidence =
      ReadLogs({{"log", lost + other +
                            "muster-launch: rank 1 (pid 7) failed, exit code 1: restart 1 of 1\n" +
                            "[rank1]:step 1\n" + boom}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.line, "ValueError: boom");
  EXPECT_EQ(evidence.ranks[*verdict.rank].attempt, 1);
  ASSERT_FALSE(verdict.consequences.empty());
  EXPECT_EQ(verdict.consequences[0].source, "rank 1 (log)");
  EXPECT_EQ(verdict.consequences[0].text, "in attempt 1 exited with code 1: KeyError: 'lr'");
  for (size_t i = 1; i < verdict.consequences.size(); ++i) {
    EXPECT_EQ(verdict.consequences[i].text.find("Connection closed"), std::string::npos);
  }
}

TEST(Explain, TheLastAttemptCountsThoughAnEarlierOneSaidMore) {
  Rank first = RankOf(0, 1, 2, kBoom);
  Rank last = RankOf(1, 137, 9, "step 1\n");
  last.name = first.name;
  last.attempt = 1;
  const Verdict verdict = Explain({.ranks = {first, last}});
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.line, "step 1");
  ASSERT_EQ(verdict.consequences.size(), 1u);
  EXPECT_EQ(verdict.consequences[0].text, "in attempt 1 exited with code 1: ValueError: boom");
  // What was only ended with its job was not the cause.
  last.was_ended_by_us = true;
  EXPECT_EQ(Explain({.ranks = {first, last}}).line, "ValueError: boom");
}

TEST(Explain, ARankThatWasKilledInAnEarlierAttemptIsSaidToHaveEndedIt) {
  const Verdict verdict = OfLog(
      "[rank0]:RuntimeError: [pair.cc:534] Connection closed by peer [127.0.0.1]:5213\n"
      "[rank1]:step 1\n"
      "muster-launch: rank 1 (pid 7) failed, SIGKILL: restart 1 of 1\n"
      "[rank0]:ValueError: boom\n");
  EXPECT_EQ(verdict.line, "ValueError: boom");
  ASSERT_FALSE(verdict.consequences.empty());
  EXPECT_EQ(verdict.consequences[0].text.substr(0, 35), "in attempt 1 exited with code 137: ");
}

TEST(Explain, AChildsFailureIsWhereItWasCalled) {
  const std::string call =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 8, in <module>\n"
      "    subprocess.run(command, check=True)\n"
      "  File \"/usr/lib/python3.11/subprocess.py\", line 571, in run\n"
      "    raise CalledProcessError(retcode, process.args,\n";
  const Verdict tool = OfLog(
      "step 1\ntar: /d/data.tar: Cannot open: No such file or directory\n"
      "tar: Error is not recoverable: exiting now\n" +
      call +
      "subprocess.CalledProcessError: Command '['tar', 'xf', '/d/data.tar']' returned non-zero "
      "exit status 2.\n");
  EXPECT_EQ(tool.kind, "file-missing");
  EXPECT_EQ(tool.line, "tar: /d/data.tar: Cannot open: No such file or directory");
  EXPECT_EQ(tool.file_line, 8);
  const Verdict python = OfLog(
      "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n"
      "ZeroDivisionError: division by zero\n" +
      call +
      "subprocess.CalledProcessError: Command '['python3', '-c', '1/0']' returned non-zero exit "
      "status 1.\n");
  EXPECT_EQ(python.line, "ZeroDivisionError: division by zero");
  EXPECT_EQ(python.file_line, 8);
}

TEST(Explain, WhatALibraryLoggedBeforeItsExceptionIsWhereThatWasRaised) {
  const Verdict verdict = OfLog(
      "E20261128 14:21:37.384454 14453 socket.cpp:462] [c10d] The server socket has failed to "
      "listen on any local network address.\n"
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 10, in meet\n"
      "    dist.TCPStore(\"127.0.0.1\", 29500, 2, True)\n"
      "RuntimeError: The server socket has failed to listen on any local network address. The "
      "server socket has failed to bind to 0.0.0.0:29500 (errno: 98 - Address already in use).\n");
  EXPECT_EQ(verdict.kind, "port-in-use");
  EXPECT_EQ(verdict.file_line, 10);
}

TEST(Explain, AMessageMayBeginOnTheNextLine) {
  const Verdict verdict = OfLog(
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 5, in <module>\n"
      "    mp.spawn(w, nprocs=2)\nRuntimeError: \n"
      "        An attempt has been made to start a new process before the current process\n"
      "        has finished its bootstrapping phase.\n");
  EXPECT_EQ(verdict.line,
            "RuntimeError: An attempt has been made to start a new process before the current "
            "process");
}

TEST(Explain, TheRankThatLostItsLossIsTheOneThatItsLauncherNames) {
  const Evidence evidence =
      ReadLogs({{"log",
                 "[rank0]:step 5 loss 1\n[rank1]:step 5 loss nan\n"
                 "muster-launch: rank 1: a loss is not a number any more: step 5 loss nan\n"}});
  EXPECT_EQ(Explain(evidence).kind, "nan");
  EXPECT_EQ(RankNamedIn(evidence), 1);
}

TEST(Explain, TimeoutsExitCodeIsADeadline) {
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 124, 3, "step 1 loss 2\n")}}).kind, "deadline");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 124, 3, kBoom)}}).kind, "exception");
}

TEST(Explain, TheLaunchersOwnReportIsNobodysLastWord) {
  const std::string log = LaunchersLog(
      "", "3",
      "  why       : exit code 3\n  what to do: the program ended itself: its own output says why\n"
      "  ended     : 1 more, because of it\n  stderr    : /tmp/t/attempt_0/1/stderr.log\n"
      "  report    : /tmp/t/failure.json\n");
  Evidence read = ReadLogs({{"log", log}});
  for (Rank& rank : read.ranks) rank.end_words.clear();  // as in a pod, where it is not in the log
  EXPECT_EQ(Explain(read).line, "");
}

TEST(Explain, WhatEndedAWholePodOfThisMachineIsKnown) {
  const auto verdict_of = [](const char* reason) {
    Rank rank = RankOf(0, 137, 3, "step 1 loss 2\n");
    rank.reason = reason;
    return Explain({.ranks = {rank}});
  };
  EXPECT_EQ(verdict_of("NodeRebooted").kind, "node-lost");
  EXPECT_EQ(verdict_of("ShimLost").kind, "stopped");
  EXPECT_EQ(verdict_of("ShimLost").advice, Advice::kRetry);
}

TEST(Explain, ACrashIsWhereItsRankHasNotedIt) {
  const Evidence read = ReadLogs(
      {{"rank_1.log",
        "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
        "  what():  [enforce fail at pair.cc:464] op.preamble.length <= op.nbytes. 8 vs 4\n"
        "muster: witness: 2026-07-30T10:00:05Z Python's stack: rank 1: Aborted in all_reduce, "
        "called at File \"/w/train.py\", line 8 in step\n"}});
  const Verdict verdict = Explain(read);
  EXPECT_EQ(verdict.kind, "collective-mismatch");
  // Whose tensor is the wrong one, the message does not say.
  EXPECT_TRUE(verdict.title.starts_with("two ranks gave tensors of different sizes"))
      << verdict.title;
  EXPECT_EQ(verdict.file, "/w/train.py");
  EXPECT_EQ(verdict.file_line, 8);
  EXPECT_EQ(verdict.function, "step");
}

TEST(Explain, AnotherRanksCrashIsNotThisOnesPlace) {
  Rank one = RankOf(1, 134, 3, "step 1 loss 2\n");
  const auto crash = [](int rank) {
    return Fact{At(3), "Python's stack",
                "rank " + std::to_string(rank) + ": Aborted in all_reduce, called at File \"/w/r" +
                    std::to_string(rank) + ".py\", line 8 in step"};
  };
  one.witnesses = {crash(0), crash(1)};
  EXPECT_EQ(Explain({.ranks = {one}}).file, "/w/r1.py");
  one.exit_code = 3;  // it has not crashed
  EXPECT_EQ(Explain({.ranks = {one}}).file, "");
}

TEST(Explain, AWorkerThatCrashedDidNotLackMemory) {
  const std::string before =
      "Traceback (most recent call last):\n  File \"/w/t.py\", line 8, in f\n"
      "RuntimeError: DataLoader worker (pid 31) is killed by signal: ";
  const auto advice = [&](const char* signal) {
    return Explain({.ranks = {RankOf(0, 1, 5, before + signal + ". \n")}}).advice_text;
  };
  EXPECT_EQ(advice("Segmentation fault").find("oom-kill"), std::string::npos);
  EXPECT_NE(advice("Killed").find("oom-kill"), std::string::npos);
}

TEST(Explain, ARankThatItsJobHasEndedIsNoCause) {
  Rank ended = RankOf(0, 137, 1, "step 3 loss 1\n");
  ended.was_ended_by_us = true;
  EXPECT_EQ(Explain({.ranks = {ended, RankOf(1, 1, 2, kBoom)}}).rank, 1u);
}

TEST(Explain, AKernelsLogThatCannotBeReadIsMissing) {
  Rank killed = RankOf(1, 137, 3, "step 1 loss 2\n");
  killed.host = "n7";
  EXPECT_TRUE(WouldWitnessesDecide(killed));
  EXPECT_FALSE(WouldWitnessesDecide(RankOf(1, 1, 3, kBoom)));
  EXPECT_FALSE(WouldWitnessesDecide(RankOf(1, 3, 3, "bye\n")));
  killed.witnesses = {{At(3), "kernel's log", "cannot be read: Operation not permitted"}};
  const Verdict verdict = Explain({.ranks = {killed}});
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.missing, std::vector<std::string>{"the kernel's log of n7 (cannot be read: "
                                                      "Operation not permitted)"});
}

TEST(Explain, OfSeveralAttemptsTheLast) {
  Rank first = RankOf(0, 143, 1, "step 1 loss 1\n");
  first.reason = "PreemptionByScheduler";
  Rank second = RankOf(0, 1, 9, kBoom);
  second.attempt = 1;
  EXPECT_EQ(Explain({.ranks = {first, second}}).kind, "exception");
  second.exit_code = 0;
  EXPECT_EQ(Explain({.ranks = {first, second}}).kind, "preempted");
  // A peer that only lost its connection says less than the rank that was tried again.
  second = RankOf(0, 1, 9, kPeer);
  second.attempt = 1;
  EXPECT_EQ(Explain({.ranks = {first, second}}).kind, "preempted");
}

TEST(Explain, NcclsReportOfARankThatSucceededIsNoCause) {
  const std::string network =
      "n1:7:9 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
      "10.0.0.1<4123> with status=12 opcode=0 len=0 vendor err 129 (Recv)\nstep 7 loss 0.5\n";
  const Rank late = RankOf(
      1, 1, 9,
      "[rank1]:[E302 10:41:12.5 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective "
      "operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE) ran for 600009 milliseconds before "
      "timing out.\n");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 1, 5, network), late}}).kind, "fabric");
  EXPECT_NE(Explain({.ranks = {RankOf(0, 0, 5, network), late}}).kind, "fabric");
}

TEST(Explain, TheClusterWhereNoProgramHasSpoken) {
  Evidence evidence;
  evidence.events = {{At(1), "pod a", "FailedMount", "secret \"x\" not found"}};
  EXPECT_EQ(Explain(evidence).kind, "volume");
  evidence.events = {
      {At(1), "job a", "FailedCreate", "admission webhook \"x.y\" denied the request: no"}};
  EXPECT_EQ(Explain(evidence).kind, "admission");
  evidence.ranks = {RankOf(0, 1, 2, kBoom)};
  EXPECT_EQ(Explain(evidence).kind, "exception");
}

TEST(Explain, NothingIsSaidOfNothing) {
  EXPECT_EQ(Explain({}).kind, kUnknown);
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 0, 2, "done\n")}}).kind, kUnknown);
}

TEST(Explain, SaysThatItFailedOnlyByALastWord) {
  const auto judge = [](const std::string& text) { return Explain(ReadLogs({{"log", text}})); };
  const Verdict killed = judge("step 1\nKilled\nbye\n");
  EXPECT_EQ(killed.kind, kUnknown);
  EXPECT_EQ(killed.title, "it was killed by SIGKILL; these data do not say by whom");
  EXPECT_EQ(killed.line, "Killed");
  for (const char* const text :
       {"row 5: KeyError: foo was the answer\nKilled 3 zombies in game\nTraining finished\n",
        "eval sample: \"MemoryError: cannot allocate\" -> correct\nloss 0.1\nsaved model\n",
        "Killed\nstep 7 loss 0.1\n"}) {
    EXPECT_EQ(judge(text).title, "nothing in these data says that it failed") << text;
  }
}

std::string Steps(int count) {
  std::string steps;
  for (int i = 0; i < count; ++i) steps += "step " + std::to_string(i) + " loss 1\n";
  return steps;
}

TEST(Explain, AQuotedErrorIsNone) {
  for (const char* const text :
       {"prompt: explain \"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\"\n",
        "note: RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n",
        "INFO tips: on \"CUDA error: out of memory\" lower the batch size\n",
        "'OSError: [Errno 28] No space left on device' was printed once\n"}) {
    EXPECT_EQ(OfLog(Steps(3) + text).kind, kUnknown) << text;
  }
  EXPECT_EQ(OfLog("{'error': 'OSError: [Errno 28] No space left on device'}\n").kind, "disk-full");
}

TEST(Explain, WhoHasFinishedWentOn) {
  EXPECT_EQ(OfLog(kBoom + "Training finished\n").title,
            "nothing in these data says that it failed");
  EXPECT_EQ(OfLog(kBoom + "Training finished with exit code 1\n").kind, "exception");
  EXPECT_EQ(OfLog(kBoom + "Set it before training is complete\n").kind, "exception");
}

TEST(Explain, ABarThatStandsOrOneLastLineIsNoProgress) {
  EXPECT_EQ(OfLog(kBoom + "Epoch 0:   0%|          | 0/9 [00:06<?, ?it/s]\n").kind, "exception");
  EXPECT_EQ(OfLog(Steps(3) + kBoom + "Epoch 3\n").kind, "exception");
  EXPECT_EQ(OfLog(kBoom + "Epoch 3\nEpoch 4\n").kind, kUnknown);
  EXPECT_EQ(OfLog(kBoom + "saved model\nEpoch 3\n").kind, kUnknown);
}

TEST(Explain, WhatAProgramPrintsBehindASchedulersWordTakesItNotBack) {
  const std::string data = "Loading 60000 digits\n";
  const std::string begin =
      data + Steps(3) + "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT x";
  const std::string aborted = "srun: Job step aborted: Waiting up to 32 seconds for it.\n";
  for (const auto& [kind, words] : {std::pair("deadline", " DUE TO TIME LIMIT ***\n"),
                                    {"preempted", " DUE TO PREEMPTION ***\n"},
                                    {"node-lost", " DUE TO NODE FAILURE, SEE LOG ***\n"},
                                    {"stopped", " ***\n"}}) {
    EXPECT_EQ(OfLog(begin + words + "step 11 loss 0.9\n").kind, kind);
    EXPECT_EQ(OfLog(begin + words + aborted + Steps(9)).kind, kind);
    EXPECT_EQ(OfLog(begin + words + Steps(3) + "Training finished\n").kind, kUnknown) << "in time";
    EXPECT_EQ(OfLog(begin + words + Steps(200)).kind, kind) << "it had waited in a buffer";
    EXPECT_EQ(OfLog(begin + words + data + Steps(200)).kind, kUnknown) << "it was queued again";
    EXPECT_EQ(OfLog(begin + words + data + Steps(4) + kBoom).kind, "exception") << "and failed";
  }
  EXPECT_EQ(OfLog(Steps(3) +
                  "slurmstepd: error: Job 12 exceeded memory limit (9 > 8), being killed\n"
                  "slurmstepd: error: *** JOB 12 ON n3 CANCELLED AT x ***\n" +
                  Steps(80))
                .kind,
            "host-out-of-memory");
  const Verdict killed = OfLog(
      "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=9.0 cgroup. Some of your "
      "processes "
      "may have been killed by the cgroup out-of-memory handler.\nstep 11 loss 0.9\n");
  EXPECT_EQ(killed.kind, "host-out-of-memory");
  EXPECT_EQ(killed.confidence, Confidence::kMedium) << "a child may have died";
}

TEST(Explain, WhatTheKernelKilledDecidesWhereNothingElseDoes) {
  const std::string killed = "Memory cgroup out of memory: Killed process 7 (python) x\n";
  const Verdict alone = OfLog(Steps(3) + killed + Steps(80));
  EXPECT_EQ(alone.kind, "host-out-of-memory");
  EXPECT_EQ(alone.confidence, Confidence::kMedium);
  EXPECT_EQ(OfLog(Steps(3) + killed + Steps(80) + kBoom).kind, "exception");
}

TEST(Explain, WhatComesAfterACaretCComesOfIt) {
  const std::string handler =
      "Traceback (most recent call last):\n  File \"/w/launch.py\", line 9, in stop\n"
      "    raise RuntimeError('children left')\nRuntimeError: children left\n";
  const Verdict verdict = OfLog(Steps(3) + "^C" + handler);
  EXPECT_EQ(verdict.kind, "stopped");
  EXPECT_EQ(verdict.line, "^CTraceback (most recent call last):");
  EXPECT_EQ(OfLog(Steps(3) + "^CSending process 7 closing signal SIGINT\n" + handler).kind,
            "stopped");
  EXPECT_EQ(OfLog("Epoch 1:  50%|#####     | 3/6 [00:05<00:05, 1.0it/s]\n"
                  "^CEpoch 1:  66%|######    | 4/6 [00:06<00:03, 1.0it/s]\n" +
                  handler)
                .kind,
            "stopped");
  EXPECT_EQ(OfLog("^C\n" + Steps(3) + handler).kind, "exception") << "of an earlier command";
  EXPECT_EQ(OfLog(kBoom + "^C\n").kind, "exception") << "it had failed before";
}

TEST(Explain, AnExceptionOfAChainThatSaysMoreTakesThePlaceOfTheFirst) {
  const auto chain = [](const char* first, const char* link, const char* second) {
    const std::string head = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n";
    return OfLog(head + first + "\n\n" + link + "\n\n" + head + second + "\n").line;
  };
  const char* const from = "The above exception was the direct cause of the following exception:";
  const char* const aside = "During handling of the above exception, another exception occurred:";
  const char* const own = "mylib.Stop: bad";
  const char* const lost = "RuntimeError: Connection closed by peer [127.0.0.1]:5213";
  const char* const full = "OSError: [Errno 28] No space left on device";
  EXPECT_EQ(chain(own, aside, lost), own) << "the peer went away while it was handled";
  EXPECT_EQ(chain(own, from, "RuntimeError: cannot save"), own);
  EXPECT_EQ(chain(own, aside, full), full);
  EXPECT_EQ(chain(full, from, own), full);
  EXPECT_EQ(chain(lost, aside, full), full);
  // Words about a lost peer are not the cause, so that they are not quoted.
  EXPECT_EQ(chain(own, from, lost).find("mylib"), std::string::npos);
}

TEST(Explain, OfAWrapperThatSaysWhatWasRaisedThatIsTheCause) {
  for (const char* const before : {"", "[rank0]: "}) {
    const Verdict verdict =
        OfLog(std::string(before) + "mycomp.exc.Failed: backend='fast' raised:\n" + before +
              "FileNotFoundError: [Errno 2] No such file or "
              "directory: 'x.csv'\n");
    EXPECT_EQ(verdict.kind, "file-missing");
    EXPECT_TRUE(verdict.line.starts_with("FileNotFoundError")) << verdict.line;
  }
}

TEST(Explain, AnExceptionsLineAloneIsWeakWhereOthersWentOn) {
  const std::string shell = "ShellSetupError: Your shell has not been set up to use 'env'.\n";
  EXPECT_EQ(OfLog(shell + "loading\n" + kBoom).line, "ValueError: boom");
  EXPECT_EQ(OfLog(shell + "loading\n").kind, "exception") << "nothing says more";
}

TEST(Explain, WhoGaveUpAfterItHadLostAPeerGaveUpBecauseOfThat) {
  const std::string abort = "*** SIGABRT received at time=1700000000 on cpu 3 ***\n";
  EXPECT_EQ(OfLog(abort + "Fatal Python error: Aborted\n").kind, "native-crash");
  EXPECT_EQ(OfLog("RuntimeError: Connection closed by peer\n" + abort).kind, kUnknown);
  EXPECT_EQ(OfLog("Fatal Python error: Aborted\n").kind, kUnknown);
  EXPECT_EQ(OfLog("*** SIGTERM received at time=1700000000 on cpu 3 ***\n").kind, kUnknown);
}

TEST(Explain, AHookThatNamesTheRankAndWhatNobodyCaught) {
  const Verdict verdict = OfLog(
      "[2030-01-01 00:00:05] INFO [lib.util:99, rank=0] go\n"
      "[2030-01-01 00:00:06] CRITICAL [lib.util:158, rank=3] Uncaught ValueError: bad value 7\n");
  EXPECT_EQ(verdict.kind, "exception");
  EXPECT_EQ(verdict.line, "ValueError: bad value 7");
}

TEST(Explain, WhatAnAgentWaitsForAtItsExitIsNoCause) {
  const std::string wait =
      "E0302 10:11:12 33 torch/distributed/elastic/agent/server/api.py:934] Error waiting on exit "
      "barrier. Elapsed: 300.1 seconds\nTraceback (most recent call last):\n"
      "  File \"/x/torch/distributed/elastic/utils/store.py\", line 98, in get\n"
      "RuntimeError: Socket Timeout\n";
  EXPECT_EQ(OfLog(wait).kind, kUnknown);
  EXPECT_EQ(OfLog("Error waiting on exit barrier\nRuntimeError: Socket Timeout\n").kind, kUnknown);
}

TEST(Explain, OfAParentAndItsChildTheChildsWordDecides) {
  const std::string parent =
      "Traceback (most recent call last):\n  File \"/w/run.py\", line 9, in main\n    run(args)\n"
      "  File \"/usr/lib/python3.11/subprocess.py\", line 571, in run\n"
      "    raise CalledProcessError(retcode, process.args,\n"
      "subprocess.CalledProcessError: Command '['python3', '-m', 'child']' returned non-zero exit "
      "status 1.\n";
  const auto line_of = [&](const std::string& child) { return OfLog(child + parent).line; };
  EXPECT_EQ(line_of("loading\nError: MODE=A is not what B wants\nbye\n"),
            "Error: MODE=A is not what B wants");
  EXPECT_EQ(OfLog("Error: MODE=A is not what B wants\n" + parent).kind, "exception");
  EXPECT_EQ(OfLog("child: error: No space left on device\n" + parent).kind, "disk-full");
  EXPECT_EQ(line_of(kBoom), "ValueError: boom");
  EXPECT_EQ(line_of("loading\n").substr(0, 29), "subprocess.CalledProcessError");
  EXPECT_EQ(OfLog("fatal: Remote branch nosuch not found in upstream origin\n" + parent).kind,
            "git");
}

TEST(Explain, OfACompilersWordsTheOneThatARuleKnowsDecides) {
  const std::string parent =
      "Traceback (most recent call last):\n  File \"/v/bin/train-it\", line 9, in <module>\n"
      "  File \"/usr/lib/python3.11/subprocess.py\", line 413, in check_call\n"
      "subprocess.CalledProcessError: Command '['cc', 'k.c']' returned non-zero exit status 1.\n";
  const std::string linker = "/usr/bin/ld: cannot find -lfoo: No such file or directory\n";
  const std::string end = "collect2: error: ld returned 1 exit status\n";
  EXPECT_EQ(OfLog(linker + end + parent).kind, "file-missing");
  EXPECT_EQ(OfLog(linker + end + parent).line + "\n", linker);
  EXPECT_EQ(OfLog("k.c:3:9: error: 'x' undeclared\n" + parent).kind, "exception");
  // A program that only asks whether a library exists goes on without it.
  EXPECT_EQ(OfLog(linker + end + kBoom).line, "ValueError: boom");
}

TEST(Explain, AShellsStatusDistinguishesAProgramFromAFile) {
  const std::string file = "job.sh: line 4: /opt/x/start: No such file or directory\n";
  EXPECT_EQ(OfLog(file + "srun: error: n1: task 0: Exited with exit code 127\n").kind,
            "program-missing");
  EXPECT_EQ(OfLog("zsh: no such file or directory: /opt/x/start\nexit status 127\n").kind,
            "program-missing");
  const std::string bash = "bash: line 4: /opt/x/list: No such file or directory\n";
  EXPECT_EQ(OfLog(bash + "exit status 127\n").kind, "program-missing");
  EXPECT_EQ(OfLog(bash + "exit status 1\n").kind, "file-missing");
  EXPECT_NE(OfLog(file + "exit status 1\n").kind, "program-missing");
}

TEST(Explain, WordsInJsonAreRead) {
  EXPECT_EQ(OfLog("message: \"exec: \\\"trainx\\\": executable file not found in $PATH\"\n").kind,
            "program-missing");
}

TEST(Explain, OfAMessageOfSeveralLinesTheOneThatTheRuleKnowsDecides) {
  const Verdict verdict = OfLog(
      "Traceback (most recent call last):\n  File \"/w/t.py\", line 3, in f\n"
      "pkg.ActorDiedError: The actor died.\n"
      "\tclass_name: W\n\tthe actor's node was preempted: wanted back\n");
  EXPECT_EQ(verdict.kind, "preempted");
  EXPECT_EQ(verdict.line, "the actor's node was preempted: wanted back");
}

TEST(Explain, WhatALaunchersReportQuotesDecidesWhereNothingElseIsSaid) {
  const std::string report = "ErrorMessage \"a.b.OddError: An odd thing\"\n";
  EXPECT_EQ(OfLog("UserScriptFailed:\nExitCode 1\n" + report).line,
            "ErrorMessage \"a.b.OddError: An odd thing\"");
  EXPECT_EQ(OfLog("level=error msg=\"failed\" error=\"MemoryError: x\"\n").kind,
            "host-out-of-memory");
  EXPECT_EQ(OfLog(kBoom + report).line, "ValueError: boom");
  EXPECT_EQ(OfLog(report + Steps(3)).kind, kUnknown) << "it went on";
  EXPECT_EQ(OfLog("error=\"RuntimeError: Connection closed by peer\"\n").kind, kUnknown);
  EXPECT_EQ(OfLog("note: error=\"ValueError: x\"\n").kind, kUnknown);
}

TEST(Explain, WhoWorkedHadWaitedForRoomBefore) {
  const std::string event =
      "5s  Warning  FailedScheduling  pod/a-worker-0  0/3 nodes are available: 3 Insufficient "
      "cpu.\n";
  EXPECT_EQ(OfLog(event).kind, "unschedulable");
  const Evidence evidence = ReadLogs({{"events.txt", event}, {"a-worker-0.log", Steps(3)}});
  EXPECT_EQ(Explain(evidence).kind, kUnknown);
}

TEST(Explain, WhoRanAProgramDoesNotKnowWhyItFailed) {
  for (const char* const text :
       {"RuntimeError: Horovod detected that one or more processes exited with non-zero status, "
        "thus causing the job to be terminated. The first process to do so was:\nProcess name: 3\n"
        "Exit code: 1\n",
        "horovod.common.exceptions.HorovodInternalError: Horovod has been shut down. This was "
        "caused by an exception on one of the ranks\n",
        "sagemaker.exceptions.UnexpectedStatusException: Error for Training job a: Failed. Reason: "
        "AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage \"\"\n",
        "ray.train.base_trainer.TrainingFailedError: The Ray Train run failed.\n",
        "submitit.core.utils.UncompletedJobError: Job 12 (task: 0)\n",
        "papermill.exceptions.PapermillExecutionError: \n---\nException encountered\n"}) {
    const Verdict verdict = OfLog(Steps(2) + text);
    EXPECT_EQ(verdict.kind, kUnknown) << text;
    EXPECT_EQ(verdict.confidence, Confidence::kLow) << text;
    EXPECT_NE(verdict.title, "nothing in these data says that it failed") << text;
    EXPECT_EQ(OfLog(kBoom +
                    "\nThe above exception was the direct cause of the following "
                    "exception:\n\nTraceback (most recent call last):\n  File \"a.py\", "
                    "line 1, in f\n" +
                    text)
                  .line,
              "ValueError: boom")
        << text;
  }
  EXPECT_EQ(OfLog("UnexpectedStatusException: Error for Training job a: Failed. Reason: "
                  "AlgorithmError: ExecuteUserScriptError: ErrorMessage \"ValueError: bad\"\n")
                .kind,
            "exception")
      << "it carries the program's words";
}

TEST(Explain, OfASignalTheLaunchersWordsDecide) {
  const Verdict verdict =
      OfLog(Steps(3) +
            "Root Cause (first observed failure):\n[0]:\n  rank      : 0 (local_rank: 0)\n"
            "  exitcode  : -11 (pid: 39)\n  error_file: <N/A>\n"
            "  traceback : Signal 11 (SIGSEGV) received by PID 39\n");
  EXPECT_EQ(verdict.kind, "native-crash");
  EXPECT_EQ(verdict.line, "traceback : Signal 11 (SIGSEGV) received by PID 39");
}

TEST(Explain, WhereNobodySaidAnythingTheLaunchersWordsStand) {
  EXPECT_EQ(OfLog("concurrent.futures.process.BrokenProcessPool: A process died\n").title,
            "a worker of a process pool died, and these data do not say why");
}

TEST(Explain, ALostLossAndAnEndWithoutWordsAreSaidAndDecideNothing) {
  const Verdict verdict =
      Explain({.ranks = {RankOf(0, 1, 5, "step 1 loss 2.1\nstep 2 loss nan\nstep 3 loss nan\n")}});
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.line, "step 2 loss nan");
  EXPECT_EQ(verdict.title,
            "its loss had become NaN or infinite, and it ended without a word about it");
  EXPECT_EQ(OfLog("step 2 loss nan\nsrun: error: n1: task 0: Exited with exit code 1\n").line,
            "step 2 loss nan");
  const auto line_after = [](int code, const std::string& text) {
    return Explain({.ranks = {RankOf(0, code, 5, text)}}).line;
  };
  EXPECT_EQ(line_after(1, "step 2 loss nan\nstep 3 loss 2.0\n"), "step 3 loss 2.0");
  EXPECT_NE(Explain({.ranks = {RankOf(0, 137, 5, "step 2 loss nan\n")}}).title, verdict.title);
}

TEST(Explain, OfAGroupOfExceptionsTheFirstIsTheCause) {
  const Verdict verdict = OfLog(
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"/w/train.py\", line 12, in <module>\n"
      "  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n"
      "    | Traceback (most recent call last):\n"
      "    |   File \"/w/data.py\", line 7, in load\n"
      "    |     return table[name]\n"
      "    | KeyError: 'train'\n"
      "    +---------------- 2 ----------------\n"
      "    | Traceback (most recent call last):\n"
      "    |   File \"/w/data.py\", line 9, in save\n"
      "    | OSError: [Errno 28] No space left on device\n"
      "    +------------------------------------\n");
  EXPECT_EQ(verdict.line, "OSError: [Errno 28] No space left on device");
  EXPECT_EQ(verdict.kind, "disk-full") << "a rule knows it";
  EXPECT_EQ(verdict.file_line, 9);
}

TEST(Explain, WhatTheMachineReportsOfAGpuSaysMoreThanTheRankThatUsedIt) {
  const Verdict verdict = OfLog(
      "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"/w/train.py\", line 66, in "
      "f\n"
      "[rank3]: torch.AcceleratorError: CUDA error: unspecified launch failure\n"
      "[91231.1] NVRM: Xid (PCI:0000:c3:00): 79, pid=9, GPU has fallen off the bus.\n");
  EXPECT_EQ(verdict.kind, "gpu-hardware");
  EXPECT_TRUE(verdict.rank.has_value());
}

TEST(Explain, ThatItFailedIsSaidOfOneRanksLastWordAndOfAnyWordOfFailure) {
  const Verdict killed = OfLog("[rank3]: step 1 loss 2.0\n[rank3]: Killed\n");
  EXPECT_EQ(killed.kind, kUnknown);
  EXPECT_EQ(killed.rank, 0U);
  EXPECT_EQ(OfLog("the third trial has failed and was given up\n").title,
            "it failed, and these data do not say why");
}

TEST(Explain, TheMachineIsAskedWhoKilledAProcessOfAPool) {
  EXPECT_TRUE(WouldWitnessesDecide(RankOf(0, 1, 3,
                                          "Traceback (most recent call last):\n  File \"a.py\", "
                                          "line 1, in f\nx.BrokenProcessPool: A process died\n")));
}

TEST(Explain, SrunEndsItsStepWhenATaskHasExited) {
  const std::string cancelled =
      "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2024-02-03T18:40:21 ***\n";
  const std::string exited = "srun: error: n1: tasks 0-3: Exited with exit code 1\n";
  const Verdict verdict = OfLog(exited + "srun: Terminating StepId=7.0\n" + cancelled);
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.line + "\n", exited);
  EXPECT_EQ(OfLog(cancelled + exited).kind, "stopped");
}

TEST(Explain, ARestartThatWorkedIsNoFailure) {
  const std::string restart =
      "api.py:914] [default] Worker group FAILED. 3/3 attempts left; will restart worker group\n";
  const std::string well =
      "api.py:9] [default] worker group successfully finished. Waiting 300 s\n";
  const std::string exited =
      "E api.py:874] failed (exitcode: 1) local_rank: 0 (pid: 7) of binary: p\n";
  EXPECT_EQ(OfLog(kBoom + exited + restart + Steps(3) + well).title,
            "nothing in these data says that it failed");
  EXPECT_EQ(OfLog(kBoom + restart + Steps(3) + kBoom + exited).kind, "exception");
  EXPECT_EQ(OfLog(kBoom + restart + Steps(3)).kind, "exception");
}

TEST(Explain, AnIgnoredExceptionEndsNoProgram) {
  EXPECT_EQ(OfLog("saved\nException ignored in: <function L.__del__ at 0x7f>\n"
                  "Traceback (most recent call last):\n  File \"/l/d.py\", line 1, in __del__\n"
                  "    self.s()\nAssertionError: can only test a child process\n")
                .title,
            "nothing in these data says that it failed");
}

TEST(Explain, TheReportOfTorchsErrorHandler) {
  const std::string head =
      "ERROR:torch.distributed.elastic.multiprocessing.errors.error_handler:{\n";
  const std::string message = "  \"message\": {\n    \"message\": \"ValueError: bad value 7\",\n";
  const Verdict verdict = OfLog(
      head + message +
      "    \"extraInfo\": {\n      \"py_callstack\": \"Traceback (most recent call last):\\n  File "
      "\\\"/w/train.py\\\", line 31, in main\\n    raise x\\nValueError: bad value 7\\n\",\n"
      "      \"timestamp\": \"1700000000\"\n    }\n  }\n}\n");
  EXPECT_EQ(verdict.line, "ValueError: bad value 7");
  EXPECT_EQ(verdict.file_line, 31);
  EXPECT_EQ(OfLog(head + message).line, "ValueError: bad value 7") << "the log's end cuts it";
}

TEST(Explain, WhoToldALauncherToEndIsNotKnown) {
  const std::string end = "SignalException: Process 21990 got signal: 15\n";
  EXPECT_EQ(OfLog(end).title,
            "its launcher was told to end (SIGTERM); these data do not say by whom");
  EXPECT_EQ(OfLog(kBoom + end).kind, "exception");
}

TEST(Explain, ATracebackWhoseExceptionHasNoType) {
  const std::string frames =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n    x + y\n";
  EXPECT_EQ(
      OfLog(frames + "The size of tensor a (5) must match the size of tensor b (6) at\n").kind,
      "shape-mismatch");
  EXPECT_EQ(OfLog("The size of tensor a (5) must match the size of tensor b (6) at\n").kind,
            "shape-mismatch")
      << "cut out of its traceback";
  EXPECT_EQ(OfLog("saved 12 images of the same shape\n").kind, kUnknown) << "no trouble";
}

TEST(Explain, OfATypeAloneTheLineBelowThatDecides) {
  EXPECT_EQ(OfLog("Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n    x()\n"
                  "Exception: \nterminate called after throwing an instance of 'c10::Error'\n"
                  "  what():  CUDA error: misaligned address\n")
                .line,
            "what():  CUDA error: misaligned address");
}

TEST(Explain, SaysThatItFailedByAPodsTable) {
  for (const char* const text : {"job-worker-0   0/1   Error   0   5m\n",
                                 "I 02-03 10:11:12 user job failed JobStatus.FAILED\n"}) {
    EXPECT_EQ(OfLog(text).title, "it failed, and these data do not say why") << text;
  }
}

TEST(Explain, NamesTheLaunchersRankAlsoOfAnUnknownFailure) {
  const std::string text =
      "step 3\nmpirun has exited due to process rank 1 with PID 6032 on\nnode n1 exiting "
      "improperly.\n"
      "mpirun: error: the job failed\n";
  const Evidence evidence = ReadLogs({{"log", text}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.title, "it failed, and these data do not say why");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
}

TEST(Explain, ShowsWhatNcclCallsItsLastError) {
  const Verdict verdict = Explain(ReadLogs(
      {{"log",
        "torch.distributed.DistBackendError: NCCL error in: P.cpp:1, unhandled cuda error, NCCL "
        "version 2.18.1\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda "
        "failure 1 'invalid argument'\n"}}));
  EXPECT_EQ(verdict.kind, "cuda-error");
  EXPECT_EQ(verdict.line, "Cuda failure 1 'invalid argument'");
}

TEST(Explain, NamesNoRankByWhoseWatchdogSpokeFirst) {
  const std::string report =
      "Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE, "
      "NumelIn=5, NumelOut=5, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.";
  const auto line = [&](int rank, int sequence) {
    return fmt::format("[rank{}]:[E302 10:41:12.5 ProcessGroupNCCL.cpp:616] [Rank {}] {}\n", rank,
                       rank, fmt::format(fmt::runtime(report), sequence));
  };
  EXPECT_FALSE(Explain(ReadLogs({{"log", line(1, 7) + line(0, 7)}})).rank);
  const Evidence evidence = ReadLogs({{"log", line(0, 9) + line(1, 9) + line(2, 7)}});
  const Verdict behind = Explain(evidence);
  ASSERT_TRUE(behind.rank);
  EXPECT_EQ(evidence.ranks[*behind.rank].rank, 2);
  // The end of the log may cut a line within the name of the call.
  EXPECT_EQ(Explain(ReadLogs({{"log", line(0, 7) + line(1, 7).substr(0, 130)}})).kind,
            "collective-timeout");
}

TEST(ReadLogs, TheRankThatAnExceptionNamesAsItsOwn) {
  const auto rank_of = [](const char* text) { return ReadLogs({{"log", text}}).ranks[0].rank; };
  EXPECT_EQ(rank_of("Parameter indices which did not receive grad for rank 5: 2 3\n"), 5);
  EXPECT_EQ(rank_of("[3] is setting up NCCL communicator and retrieving\n"), 3);
  EXPECT_EQ(rank_of("did not receive grad for rank 5: 2\ndid not receive grad for rank 1: 2\n"),
            std::nullopt);
  EXPECT_EQ(rank_of("rank 3 is ready\n"), std::nullopt);
  const std::string ended = "] Process group watchdog thread terminated with exception: boom\n";
  EXPECT_EQ(rank_of(("  what():  [PG ID 0 PG GUID 0(default_pg) Rank 3" + ended).c_str()), 3);
  EXPECT_EQ(rank_of(("  what():  [Rank 3" + ended).c_str()), 3);
  EXPECT_EQ(rank_of(("  what():  [PG 1 Rank 3" + ended).c_str()), std::nullopt)
      << "a rank of another group";
}

TEST(ReadLogs, RanksByTheirPrefixes) {
  std::string text = "launcher: here\n";
  for (const char* line : {"ok", "Traceback (most recent call last):",
                           "  File \"t.py\", line 2, in f", "ValueError: two"}) {
    text += std::string("[rank2]: ") + line + "\n";
    text += "[rank0]: fine\n";
  }
  const Evidence evidence = ReadLogs({{"all.log", text}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2);
  EXPECT_EQ(verdict.line, "ValueError: two");
}

TEST(Explain, WordsWithoutARanksNameAreOfTheOneThatFailedOfTheSame) {
  const Verdict verdict = Explain(ReadLogs(
      {{"out",
        "../aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [3,0,0], "
        "thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n"
        "[rank3]: Traceback (most recent call last):\n"
        "[rank3]:   File \"/m/run.py\", line 99, in <module>\n"
        "[rank3]:     h = self.emb(ids)\n"
        "[rank3]: RuntimeError: CUDA error: device-side assert triggered\n"}}));
  EXPECT_EQ(verdict.kind, "device-assert");
  EXPECT_EQ(verdict.file_line, 99);
}

TEST(Explain, OfTwoWordsForOneFailureTheNarrower) {
  constexpr const char* kTrace =
      "Traceback (most recent call last):\n  File \"/a/train.py\", line 7, in <module>\n    f()\n";
  EXPECT_EQ(Explain(ReadLogs({{"out", std::string(kTrace) +
                                          "RuntimeError: DataLoader worker (pid(s) 11) exited "
                                          "unexpectedly\nERROR: Unexpected bus error encountered "
                                          "in worker. This might be caused by insufficient shared "
                                          "memory (shm).\n"}}))
                .kind,
            "shm-too-small");
  EXPECT_EQ(
      Explain(ReadLogs({{"out", std::string(kTrace) +
                                    "RuntimeError: [enforce fail at "
                                    "inline_container.cc:603] . unexpected pos 2432 vs 2326\n"
                                    "\nDuring handling of the above exception, another "
                                    "exception occurred:\n\n" +
                                    kTrace + "OSError: [Errno 28] No space left on device\n"}}))
          .kind,
      "disk-full");
}

// Somebody deleted the job; what its ranks say about SIGTERM is a consequence.
TEST(Explain, ADeletionDecidesUnlessARankHadFailed) {
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 143, 9, "Terminated")}, .job_reason = "Deleted"}).kind,
            "stopped");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 1, 9, kBoom)}, .job_reason = "Deleted"}).kind,
            "exception");
}

TEST(ReadLogs, RanksByTheirFiles) {
  const Evidence evidence =
      ReadLogs({{"x/attempt_0/0/stderr.log", kPeer}, {"x/attempt_0/1/stderr.log", kBoom}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
}

TEST(ReadLogs, TheTableOfTorchrun) {
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-01_10:00:00\n"
      "  host      : n7\n  rank      : 3 (local_rank: 3)\n  exitcode  : -11 (pid: 4711)\n"
      "  error_file: <N/A>\n  traceback : Signal 11 (SIGSEGV) received by PID 4711\n";
  const Evidence evidence = ReadLogs({{"out", table}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "native-crash");
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 3);
  EXPECT_EQ(evidence.ranks[*verdict.rank].host, "n7");
}

TEST(ReadLogs, TheTableNamesTheRankOfLinesWithoutAPrefix) {
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  host      : n7\n"
      "  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 4711)\n";
  const Evidence evidence = ReadLogs({{"out", kBoom + table}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(NameOf(evidence.ranks[*verdict.rank]), "rank 1 (out)");
  EXPECT_EQ(verdict.line, "ValueError: boom");
  EXPECT_TRUE(verdict.consequences.empty());
}

// `muster run --nodes 2 -n 2`: each pod's launcher counts its own ranks, and also names a rank of
// another pod that failed first.
TEST(ReadLogs, LocalRanksOfMustersOwnLauncher) {
  const std::string table =
      "Failures:\n[1]:\n  host      : a-worker-0\n  rank      : 3 (local_rank: 1)\n"
      "  exitcode  : -15 (pid: 7)\nRoot Cause (first observed failure):\n[0]:\n"
      "  host      : a-master-0\n  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 8)\n";
  const auto prefixed = [](std::string_view rank, std::string text) {
    std::string out;
    for (const std::string& line : base::Split(base::Trim(text), '\n')) {
      out += "[local-rank" + std::string(rank) + "]:" + line + "\n";
    }
    return out;
  };
  const std::string master = "muster-launch: node 0 of 2: ranks 0 to 1 of 4, start 1\n" +
                             prefixed("1", std::string(kBoom)) + table;
  const std::string worker = "muster-launch: node 1 of 2: ranks 2 to 3 of 4, start 1\n" +
                             prefixed("0", "fine") + prefixed("1", "fine too") + table;
  const Verdict verdict = Explain(ReadLogs({{"m.log", master}}));
  EXPECT_EQ(verdict.line, "ValueError: boom");
  // The beginning of the log may be cut off; the job also knows the ranks.
  const std::string cut = worker.substr(worker.find('\n') + 1);
  for (const LogFile& file : {LogFile{"w.log", worker}, LogFile{"w.log", cut, NodeRanks{2, 3}}}) {
    const Evidence evidence = ReadLogs({file});
    std::vector<int> ranks;
    for (const Rank& rank : evidence.ranks) {
      if (rank.rank) ranks.push_back(*rank.rank);
    }
    EXPECT_EQ(ranks, (std::vector<int>{2, 3}));
    EXPECT_EQ(evidence.first_rank, 1);
  }
  // If one file contains the lines of all nodes, all rows of the table count.
  const Evidence both = ReadLogs({{"all.log", master + worker}});
  EXPECT_TRUE(std::any_of(both.ranks.begin(), both.ranks.end(),
                          [](const Rank& rank) { return rank.rank == 1 && rank.exit_code == 1; }));
}

TEST(ReadLogs, StampsOfOthers) {
  const std::string text =
      "[pod/a-worker-1/pytorch] 2026-01-01T00:00:02.5Z Traceback (most recent call last):\n"
      "[pod/a-worker-1/pytorch] 2026-01-01T00:00:02.5Z   File \"t.py\", line 2, in f\n"
      "[pod/a-worker-1/pytorch] 2026-01-01T00:00:02.5Z KeyError: 'x'\n"
      "[pod/a-master-0/pytorch] 2026-01-01T00:00:01.5Z Traceback (most recent call last):\n"
      "[pod/a-master-0/pytorch] 2026-01-01T00:00:01.5Z   File \"t.py\", line 2, in f\n"
      "[pod/a-master-0/pytorch] 2026-01-01T00:00:01.5Z KeyError: 'y'\n"
      "0: srun's\n 1: too\n";
  const Evidence evidence = ReadLogs({{"out", text}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(evidence.ranks[*verdict.rank].name, "a-master-0");
  EXPECT_EQ(verdict.line, "KeyError: 'y'");
  EXPECT_EQ(evidence.ranks.size(), 4u);
}

TEST(ReadLogs, HostsAsPdshMarksThem) {
  std::string text;
  for (const char* line : {"Traceback (most recent call last):", "  File \"t.py\", line 2, in f",
                           "KeyError: 'x'", "more"}) {
    text += std::string("gpu-01: fine\ngpu-02: [rank9]: ") + line + "\n";
  }
  const Evidence evidence = ReadLogs({{"ds.log", text}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(NameOf(evidence.ranks[*verdict.rank]), "rank 9 (gpu-02)");
  // An exception's name before a colon is not a host.
  EXPECT_EQ(Explain(ReadLogs({{"log", kBoom}})).line, "ValueError: boom");
}

TEST(ReadLogs, OfSeveralAttemptsTheLastThatDecides) {
  const std::string oom =
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nMemoryError\n";
  EXPECT_EQ(Explain(ReadLogs({{"attempt_0/1/stderr.log", kBoom},
                              {"attempt_0/0/stderr.log", kPeer},
                              {"attempt_1/0/stderr.log", kPeer},
                              {"attempt_1/1/stderr.log", oom}}))
                .kind,
            "host-out-of-memory");
  const std::string restart =
      "I0302 1 torch/distributed/elastic/agent/server/api.py:914] [default] Worker group FAILED. "
      "1/1 "
      "attempts left; will restart worker group\n";
  const Evidence one = ReadLogs({{"out", kBoom + restart + oom}});
  const Verdict verdict = Explain(one);
  EXPECT_EQ(verdict.kind, "host-out-of-memory");
  EXPECT_EQ(one.ranks[*verdict.rank].attempt, 1);
}

TEST(ReadLogs, StampsOfProgramsWhereAllFilesHaveSome) {
  const std::string late = "2026-03-02 10:11:09,120 INFO step 3\n" + kBoom;
  std::string early = "[2026-03-02 10:11:02] step 3\n" + kBoom;
  early.replace(early.find("boom"), 4, "soon");
  EXPECT_EQ(Explain(ReadLogs({{"rank_0.log", late}, {"rank_1.log", early}})).line,
            "ValueError: soon");
}

TEST(Render, FitsAScreen) {
  Evidence evidence;
  for (int i = 0; i < 30; ++i) {
    evidence.ranks.push_back(RankOf(i, 1, i == 7 ? 1 : 5, i == 7 ? kBoom : kPeer));
  }
  evidence.ranks[7].lines.back().text += std::string(300, 'x') + "\x1b[31m\xe2\x82";
  const std::string text = Render(Explain(evidence), evidence, false);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const std::string narrow = Render(Explain(evidence), evidence, true, 80);
  for (size_t at = 0, end; (end = narrow.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(end - at, 80u) << narrow.substr(at, end - at);
  }
}

TEST(Render, FitsASmallScreen) {
  Evidence evidence;
  const std::string words = "word " + std::string(50, 'x') + " word " + std::string(50, 'x');
  for (int i = 0; i < 30; ++i) {
    evidence.ranks.push_back(RankOf(i, 1, 5, "RuntimeError: Connection closed by peer\n"));
  }
  std::string log = "Traceback (most recent call last):\n";
  for (int i = 0; i < 9; ++i) log += "  File \"/w/a.py\", line 1, in f\n";
  evidence.ranks[7] =
      RankOf(7, 1, 1,
             log + "RuntimeError: Expected to have finished reduction in the prior iteration " +
                 words + "\n");
  Verdict verdict = Explain(evidence);
  verdict.missing = {"one", "two", "three"};
  const std::string text = Render(verdict, evidence, false, 80);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 22) << text;
  EXPECT_NE(text.find("             RuntimeError: Expected"), std::string::npos) << text;
}

const std::string kTimedOut =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 88, in <module>\n"
    "RuntimeError: [unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to "
    "complete\n";
const std::string kSaid = "rank 1 has not entered all_reduce (train.py:88); it is at loader.py:31";
const Fact kStall{At(1), std::string(kStallSource), "stalled " + kSaid};

TEST(Explain, ADeadlineThatEndsAHangIsNotItsCause) {
  const Verdict verdict = Explain({.ranks = {RankOf(0, 143, 90, ""), RankOf(1, 143, 90, "")},
                                   .job_reason = "DeadlineExceeded",
                                   .stall = kStall});
  EXPECT_EQ(verdict.kind, "hang");
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.line, kSaid);
  EXPECT_EQ(verdict.confidence, Confidence::kHigh);
  ASSERT_GE(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[0].time, At(1));
  EXPECT_EQ(verdict.evidence[1].text, "it ran longer than it was allowed to");
  ASSERT_EQ(verdict.missing.size(), 1u);
  EXPECT_TRUE(verdict.missing[0].starts_with("the number of the collective: "));
}

TEST(Explain, AStalledJobThatWasStoppedForItIsAHang) {
  const Verdict verdict = Explain(
      {.ranks = {RankOf(0, 143, 90, ""), RankOf(1, 143, 90, "")},
       .job_reason = "PyTorchJobFailed",
       .job_message = "Job j has failed because it was stalled (--on-stall=stop): rank 1 has not "
                      "entered all_reduce (train.py:88); it is at loader.py:31",
       .stall = kStall});
  EXPECT_EQ(verdict.kind, "hang");
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.line, kSaid);
}

TEST(Explain, ARankThatWasKilledForItsStallDidNotFailByAnUnknownSignal) {
  const Event event{At(90), "job j", "Stalled",
                    "rank 1 is killed (--on-stall=restart): rank 1 has not entered all_reduce "
                    "(train.py:88); it is at loader.py:31"};
  Evidence evidence{.ranks = {RankOf(0, 143, 91, ""), RankOf(1, 137, 90, "Killed\n")},
                    .events = {event}};
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "hang");
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.line, kSaid);
  // Another program of the machine ran out of memory meanwhile.
  Evidence with_oom = evidence;
  with_oom.ranks[1].reason = "OOMKilled";
  EXPECT_EQ(Explain(with_oom).kind, "hang");
  with_oom.ranks[1].rank.reset();
  EXPECT_EQ(Explain(with_oom).kind, "hang") << "it is said of the whole pod";
  with_oom.events[0].time = At(20);
  EXPECT_EQ(Explain(with_oom).kind, "host-out-of-memory");
  evidence.events[0].time = At(20);  // of an earlier attempt
  EXPECT_EQ(Explain(evidence).kind, kUnknown);
}

TEST(Explain, ATimeOutOfTheOthersIsSplitByWhatTheMissingRankDid) {
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 1, 90, kTimedOut)}}).kind, "collective-timeout");
  EXPECT_EQ(Explain({.ranks = {RankOf(0, 1, 90, kTimedOut)}, .stall = kStall}).kind, "hang");
}

TEST(Explain, WhatTheLauncherSaysOfAStallNamesTheRankToo) {
  const auto read = [](const std::string& why) {
    return ReadLogs({{"train.log",
                      "muster-launch: they continue after 12 s\n"
                      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
                      "============================================================\n"
                      "train.py FAILED\n"
                      "------------------------------------------------------------\n"
                      "Failures:\n[1]:\n  time      : 2026-11-27_20:48:43\n"
                      "  host      : vm\n  rank      : 1 (local_rank: 1)\n"
                      "  exitcode  : -15 (pid: 30966)  (SIGTERM)\n"
                      "------------------------------------------------------------\n"
                      "Root Cause (first observed failure):\n[0]:\n"
                      "  time      : 2026-11-27_20:48:43\n  host      : vm\n"
                      "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 30965) \n"
                      "============================================================\n"
                      "train.py: rank 0 of 2 failed first (local rank 0, pid 30965, host vm)\n"
                      "  why       : " +
                          why + "\n"}});
  };
  const Evidence evidence = read("stalled 12 s: " + kSaid +
                                 ": time.sleep(600) (RuntimeError: [./gloo/transport/tcp/"
                                 "unbound_buffer.cc:81] Timed out (1))");
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "hang");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
  EXPECT_EQ(verdict.line, kSaid + ": time.sleep(600)");
  EXPECT_EQ(verdict.file_line, 31);
  EXPECT_EQ(Explain(read("stalled 12 s: " + kSaid)).line, kSaid);
}

TEST(Explain, RanksThatWaitedForEachOtherMadeDifferentCalls) {
  Fact stall = kStall;
  stall.text =
      "stalled rank 1 is in barrier (train.py:12), ranks 0, 2 are in all_reduce (train.py:15): "
      "they wait for each other; no usable answer of the flight recorder of rank 1";
  const Verdict verdict =
      Explain({.ranks = {RankOf(0, 1, 90, kTimedOut), RankOf(1, 143, 90, "")}, .stall = stall});
  EXPECT_EQ(verdict.kind, "collective-mismatch");
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.file, "train.py");
  EXPECT_EQ(verdict.file_line, 12);
  for (const char* text :
       {"stalled rank 0 is in barrier (train.py:12), rank 1 is in all_reduce (train.py:15)",
        "stalled ranks 0-1 are in barrier (train.py:12), ranks 2-3 are in all_reduce (train.py:15)",
        "stalled rank 0 is in barrier (train.py:12), rank 1 is in all_reduce (train.py:15), ranks "
        "2-3 are in broadcast (train.py:9)"}) {
    stall.text = text + std::string(kWaitForEachOther);
    const Verdict even =
        Explain({.ranks = {RankOf(0, 1, 90, kTimedOut), RankOf(1, 143, 90, "")}, .stall = stall});
    EXPECT_FALSE(even.rank) << "another may be the odd one: " << text;
    EXPECT_EQ(even.file, "");
  }
}

TEST(Explain, AStallEndsWhenARankRaisesWhatItWaitedForInVain) {
  Rank waited = RankOf(0, 1, 90, kTimedOut);
  for (Line& line : waited.lines) line.time = At(80);
  Evidence evidence{.ranks = {waited, RankOf(1, 143, 90, "")}, .stall = kStall};
  evidence.stall_end = At(81);
  EXPECT_EQ(Explain(evidence).kind, "hang");
  EXPECT_EQ(Explain(evidence).rank, 1u);
  EXPECT_EQ(Explain(evidence).file, "loader.py") << "where that rank was";
  EXPECT_EQ(Explain(evidence).file_line, 31);
  evidence.stall_end = At(60);
  EXPECT_EQ(Explain(evidence).kind, "collective-timeout") << "they had gone on";
  for (Line& line : evidence.ranks[0].lines) line.time.reset();
  EXPECT_EQ(Explain(evidence).kind, "collective-timeout");
  evidence.stall_end = At(86);
  EXPECT_EQ(Explain(evidence).kind, "hang");
}

TEST(Explain, AStallThatBeganAfterARankGaveUpIsOfThoseThatWereLeft) {
  Rank waited = RankOf(0, 1, 90, kTimedOut);
  for (Line& line : waited.lines) line.time = At(80);
  Evidence evidence{.ranks = {waited, RankOf(1, 143, 90, "")}, .stall = kStall};
  evidence.stall->time = At(85);
  EXPECT_EQ(Explain(evidence).kind, "collective-timeout");
  evidence.stall_end = At(90);
  EXPECT_EQ(Explain(evidence).kind, "collective-timeout");
  evidence.stall->time = At(79);
  EXPECT_EQ(Explain(evidence).kind, "hang");
}

TEST(Explain, ARankThatWasTooSlowForTheOthersIsNamed) {
  Fact slow = kStall;
  slow.text = "waiting rank 1 has not entered all_reduce (train.py:88); it is busy";
  const Verdict verdict =
      Explain({.ranks = {RankOf(0, 1, 90, kTimedOut), RankOf(1, 143, 90, "")}, .stall = slow});
  EXPECT_EQ(verdict.kind, "collective-timeout");
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.line, "rank 1 has not entered all_reduce (train.py:88); it is busy");
  EXPECT_NE(verdict.advice_text.find("timeout=..."), std::string::npos);
}

TEST(Explain, RanksThatWaitedInOneCallWaitedForNoSlowRank) {
  Fact wait = kStall;
  wait.text =
      "waiting ranks 0-1 are all in all_reduce (train.py:88) and none goes on: do they pass equal "
      "shapes, and reach each other?";
  const Evidence evidence{.ranks = {RankOf(1, 1, 90, kTimedOut), RankOf(0, 143, 90, "")},
                          .stall = wait};
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "collective-timeout");
  EXPECT_EQ(verdict.title.find("at work"), std::string::npos) << verdict.title;
  EXPECT_EQ(verdict.rank, 0u) << "who lost patience first";
  ASSERT_FALSE(verdict.evidence.empty());
  EXPECT_EQ(verdict.evidence[0].text, wait.text);
}

TEST(Explain, ARankThatDoesNothingIsNotAtWork) {
  Fact wait = kStall;
  wait.text = "waiting rank 1 has not entered all_reduce #6" + std::string(kEnteredByThreads) +
              "; it is at train.py:10, in join (threading.py:1112)";
  const Verdict verdict =
      Explain({.ranks = {RankOf(0, 1, 90, kTimedOut), RankOf(1, 143, 90, "")}, .stall = wait});
  EXPECT_EQ(verdict.title, "a rank had not entered a collective call that the others had entered");
  EXPECT_EQ(verdict.rank, 1u);
  EXPECT_EQ(verdict.file_line, 10);
}

TEST(Explain, ARecorderSaysThatRanksMadeDifferentCalls) {
  Fact stall = kStall;
  const std::string calls =
      "rank 1 calls barrier (train.py:19) where ranks 0, 2 call all_reduce (train.py:12): "
      "collective #8 differs between ranks";
  for (const char* kind : {"stalled ", "waiting "}) {
    stall.text = kind + calls;
    const Verdict verdict =
        Explain({.ranks = {RankOf(0, 1, 90, kTimedOut), RankOf(1, 143, 90, "")}, .stall = stall});
    EXPECT_EQ(verdict.kind, "collective-mismatch") << kind;
    EXPECT_EQ(verdict.line, calls);
    EXPECT_EQ(verdict.rank, 1u);
    EXPECT_EQ(verdict.file_line, 19);
  }
  for (const char* even :
       {"stalled rank 1 calls barrier (train.py:19) where rank 0 calls all_reduce (train.py:12): "
        "collective #8 differs between ranks",
        "stalled rank 1 gives [4] (a.py:9), rank 3 gives [4] (a.py:9) where ranks 0, 2 give [8] "
        "(a.py:9): the sizes of all_reduce #7 differ"}) {
    stall.text = even;
    const Verdict verdict =
        Explain({.ranks = {RankOf(0, 1, 90, kTimedOut), RankOf(1, 143, 90, "")}, .stall = stall});
    EXPECT_EQ(verdict.kind, "collective-mismatch");
    EXPECT_FALSE(verdict.rank) << even;
  }
}

TEST(Explain, AHangExplainsNoFailureOfARanksOwnAndSlowIsNotHung) {
  EXPECT_EQ(Explain({.ranks = {RankOf(1, 1, 90, kBoom)}, .stall = kStall}).kind, "exception");
  Fact slow = kStall;
  slow.text = "waiting rank 1 has not entered all_reduce (train.py:88); it is busy";
  EXPECT_EQ(
      Explain({.ranks = {RankOf(0, 143, 90, "")}, .job_reason = "DeadlineExceeded", .stall = slow})
          .kind,
      "deadline");
}

TEST(Explain, NamesTheOnlyRankThatHorovodMisses) {
  const Verdict verdict = Explain(
      ReadLogs({{"train.log",
                 "[1,0]<stderr>:[2026-03-02 13:55:31.858: W horovod/common/operations.cc:588] "
                 "HorovodBroadcast_dense_0 [missing ranks: 1]\n"}}));
  EXPECT_EQ(verdict.kind, "hang");
  EXPECT_EQ(verdict.confidence, Confidence::kLow);
  EXPECT_TRUE(verdict.rank.has_value());
}

TEST(Explain, AVolumeThatCameLaterIsNoTrouble) {
  const Verdict verdict = Explain(ReadLogs(
      {{"events.log",
        "Events:\n  Type     Reason       Age   From         Message\n"
        "  Normal   Scheduled    38m   default-scheduler  Successfully assigned test/a to n7\n"
        "  Warning  FailedMount  38m   kubelet, n7  MountVolume.SetUp failed for volume \"v\" : "
        "configmap \"c\" not found\n"
        "  Normal   Created      38m   kubelet, n7  Created container\n"
        "  Normal   Started      38m   kubelet, n7  Started container\n"}}));
  EXPECT_EQ(verdict.kind, "unknown");
  EXPECT_EQ(verdict.title, "nothing in these data says that it failed");
}

}  // namespace
}  // namespace answers
