#include "launch/failure/failure.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "launch/failure/failure_report.h"
#include "text/json.h"

namespace launch {
namespace {

base::Time SecondsAfterEpoch(int64_t seconds) { return base::Time(std::chrono::seconds(seconds)); }

Failure FailureOf(int rank, int exit_code, int64_t seconds) {
  Failure failure;
  failure.local_rank = failure.rank = rank;
  failure.exit_code = exit_code;
  failure.pid = 9615 + rank;
  failure.host = "localhost";
  failure.time = SecondsAfterEpoch(seconds);
  return failure;
}

TEST(ErrorFile, OfTheLauncherHasTheExitCode) {
  const auto text = WithErrorCode(R"({"message": {"message": "b", "errorCode": 9}, "x": [1]})", 3);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, R"({"message":{"message":"b","errorCode":3},"x":[1]})");
  EXPECT_EQ(*WithErrorCode(R"({"message": "b"})", -9),
            R"({"message":{"message":"b","errorCode":-9}})");
}

TEST(RootCause, IsTheFirstByWholeSecondsThenByDiscovery) {
  EXPECT_EQ(FindRootCause({FailureOf(0, 1, 12), FailureOf(1, 1, 10)}), 1U);
  EXPECT_EQ(FindRootCause({FailureOf(0, 1, 10), FailureOf(1, 1, 10)}), 0U);
  Failure reported = FailureOf(1, 1, 20);
  reported.report = answers::ErrorReport{"x", "", 9};
  EXPECT_EQ(FindRootCause({FailureOf(0, 1, 10), reported}), 1U);
}

TEST(Failure, AnAssertionThatAbortedItIsItsCause) {
  Failure failure = FailureOf(1, -SIGABRT, 10);
  failure.stderr_tail = "step 1\npython3: k.cc:4: void go(): Assertion `n > 0' failed.\n";
  EXPECT_EQ(Explain(failure, {}).cause, "python3: k.cc:4: void go(): Assertion `n > 0' failed.");
  EXPECT_EQ(Explain(failure, {}).kind, "native-crash");
}

// The job's status is read from the last 4 KiB.
TEST(Failure, ALongMessageDoesNotPushTheRankOutOfTheReport) {
  Failure failure = FailureOf(1, 1, 10);
  failure.stderr_tail =
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n"
      "ValueError: " +
      std::string(5000, 'x') + "\n";
  const std::string text = ExplainText({failure}, {});
  EXPECT_LT(text.size(), 2000U);
  EXPECT_NE(text.find("  why       : ValueError: xxx"), std::string::npos);
}

TEST(RootCause, IsNeverOneThatTheLauncherEnded) {
  Failure stopped = FailureOf(0, -SIGTERM, 1);
  stopped.was_stopped_by_us = true;
  EXPECT_EQ(FindRootCause({stopped, FailureOf(1, 3, 5)}), 1U);
  EXPECT_EQ(FindRootCause({stopped}), 0U);
}

// It raised first, and took long to end; a peer that lost it ended before.
TEST(RootCause, IsTheOneThatRecordedAnExceptionFirst) {
  Failure slow = FailureOf(1, 1, 20);
  slow.was_stopped_by_us = true;
  slow.report = answers::ErrorReport{"x", "", 9};
  EXPECT_EQ(FindRootCause({FailureOf(0, 1, 10), slow}), 1U);
  slow.report->timestamp = 10;
  EXPECT_EQ(FindRootCause({FailureOf(0, 1, 10), slow}), 0U);
  slow.report->timestamp.reset();
  EXPECT_EQ(FindRootCause({FailureOf(0, 1, 10), slow}), 0U);
}

// Not the signal with which the launcher ended it.
TEST(RootCause, OfOneThatRecordedAnExceptionIsTheException) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    Failure slow = FailureOf(1, -signal, 20);
    slow.was_stopped_by_us = true;
    slow.report = answers::ErrorReport{"ValueError: x", "", 9};
    EXPECT_EQ(ExitCodeOf(slow), 1);
    EXPECT_EQ(Explain(slow, {}).cause, "ValueError: x");
    EXPECT_EQ(Explain(slow, {}).kind, "exception");
    slow.report->timestamp.reset();
    EXPECT_EQ(ExitCodeOf(slow), 128 + signal);
  }
}

constexpr std::string_view kLostPeer =
    "Traceback (most recent call last):\n  File \"x.py\", line 4\nRuntimeError: send/recv\n"
    " Original exception: \n[pair.cc:561] Connection closed by peer [::1]:17308.\n";

TEST(RootCause, IsNotOneThatLostAPeerWhenThereIsAnother) {
  Failure lost = FailureOf(0, 1, 10);
  lost.stderr_tail = kLostPeer;
  EXPECT_EQ(FindRootCause({lost, FailureOf(1, 3, 12)}), 1U);
  Failure recorded = FailureOf(0, 1, 10);
  recorded.report = answers::ErrorReport{"RuntimeError: Connection reset by peer", "", 10};
  EXPECT_EQ(FindRootCause({recorded, FailureOf(1, -SIGKILL, 10)}), 1U);
  EXPECT_EQ(FindRootCause({lost, recorded}), 0U);
  // It lives with the loss of a peer, and fails for a reason of its own.
  lost.stderr_tail += "\nTraceback (most recent call last):\n  File \"x.py\"\nKeyError: 1\n";
  EXPECT_EQ(FindRootCause({lost, FailureOf(1, 3, 12)}), 0U);
}

// Its sockets were closed before its process had ended: a peer ended first, and then it was
// stopped.
TEST(RootCause, IsTheOneThatWasEndingByAnException) {
  Failure lost = FailureOf(0, 1, 10);
  lost.stderr_tail = kLostPeer;
  Failure slow = FailureOf(1, -SIGTERM, 11);
  slow.was_stopped_by_us = true;
  EXPECT_EQ(FindRootCause({lost, slow}), 0U);
  slow.stderr_tail = "Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 1\n";
  EXPECT_EQ(FindRootCause({lost, slow}), 1U);
  EXPECT_EQ(ExitCodeOf(slow), 1);
  EXPECT_EQ(Explain(slow, {}).cause, "KeyError: 1");
  const std::string text = ExplainText({lost, slow}, {});
  EXPECT_NE(text.find("others    : 1 failed too\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("ended     :"), std::string::npos) << text;
  EXPECT_EQ(FindRootCause({slow, FailureOf(0, 3, 12)}), 1U);
  slow.exit_code = -SIGKILL;  // it did not obey, and may have gone on after its exception
  EXPECT_EQ(FindRootCause({lost, slow}), 0U);
}

TEST(RootCause, IsTheOneThatLostAThreadWhenAnotherWaitedInVain) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\nKeyError: 'shard-7'\n";
  Failure stopped = FailureOf(1, -SIGTERM, 10);
  stopped.was_stopped_by_us = true;
  stopped.stderr_tail = "step 1\nException in thread Thread-1 (f):\n" + raised;
  Failure waited = FailureOf(0, 1, 10);
  waited.stderr_tail =
      "Traceback (most recent call last):\n  File \"x.py\", line 9, in g\nRuntimeError: Timed out "
      "waiting 8000ms for recv operation to complete\n";
  EXPECT_EQ(FindRootCause({waited, stopped}), 1U);
  Failure failed = waited;
  failed.stderr_tail = raised;
  EXPECT_EQ(FindRootCause({failed, stopped}), 0U);
  stopped.stderr_tail = raised;  // perhaps handled long before
  EXPECT_EQ(FindRootCause({waited, stopped}), 0U);
}

TEST(Traceback, IsTheLastOne) {
  EXPECT_EQ(FindTraceback("warning\nTraceback (most recent call last):\n  File \"a\", line 1\n"
                          "    old\nKeyError: 1\n\nDuring handling of the above exception, another "
                          "exception occurred:\n\nTraceback (most recent call last):\n"
                          "  File \"x.py\", line 3, in <module>\n    raise ValueError(\"boom\")\n"
                          "ValueError: boom\n"),
            "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n"
            "    raise ValueError(\"boom\")\nValueError: boom\n");
  EXPECT_EQ(FindTraceback("[rank0]: Traceback (most recent call last):\n[rank0]:   File \"a\"\n"
                          "[rank0]: E: 1\n"),
            "Traceback (most recent call last):\n  File \"a\"\nE: 1\n");
  EXPECT_EQ(FindTraceback("nothing here\n"), "");
}

TEST(Traceback, IsNotThatOfAnExceptionThatPythonIgnored) {
  const std::string own =
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: 'lr'\n";
  const std::string ignored =
      "Exception ignored in: <function A.__del__ at 0x7f>\nTraceback (most recent call last):\n"
      "  File \"a.py\", line 9, in __del__\nAssertionError: can only test a child process\n";
  EXPECT_EQ(FindTraceback(own + ignored + ignored), own);
  EXPECT_EQ(FindTraceback("x\n" + ignored + own), own);
  EXPECT_EQ(FindTraceback("x\n" + ignored), "");
  EXPECT_EQ(FindTraceback(ignored), "");
}

TEST(Traceback, OfAGroupIsThatOfTheGroupWithoutItsTree) {
  const std::string group =
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"x.py\", line 3, in <module>\n  |     raise ExceptionGroup(\"two\", [a, b])\n"
      "  | ExceptionGroup: two (2 sub-exceptions)\n"
      "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
      "    |   File \"x.py\", line 1, in a\n    | FileNotFoundError: /data/1\n"
      "    +---------------- 2 ----------------\n    | ValueError: bad magic\n"
      "    +------------------------------------\n";
  const std::string own =
      "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n"
      "    raise ExceptionGroup(\"two\", [a, b])\nExceptionGroup: two (2 sub-exceptions)\n";
  EXPECT_EQ(FindTraceback("step 1\n" + group), own);
  EXPECT_EQ(FindTraceback(group + "bye\n"), own);
  Failure failure = FailureOf(0, 1, 10);
  failure.stderr_tail = group;
  EXPECT_EQ(Explain(failure, {}).cause, "ExceptionGroup: two (2 sub-exceptions)");
  EXPECT_EQ(Explain(failure, {}).kind, "exception");
  const std::string later = "Traceback (most recent call last):\n  File \"y.py\"\nKeyError: 1\n";
  EXPECT_EQ(FindTraceback(group + later), later);
}

TEST(FailureTable, LooksAsTorchrunsDoes) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  Failure first = FailureOf(1, 3, 1795223550);
  Failure second = FailureOf(0, -SIGTERM, 1795223551);
  second.was_stopped_by_us = true;
  EXPECT_EQ(FailureTable("fail3.py", {first, second}),
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
            "============================================================\n"
            "fail3.py FAILED\n"
            "------------------------------------------------------------\n"
            "Failures:\n"
            "[1]:\n"
            "  time      : 2026-11-21_01:12:31\n"
            "  host      : localhost\n"
            "  rank      : 0 (local_rank: 0)\n"
            "  exitcode  : -15 (pid: 9615)  (SIGTERM)\n"
            "  error_file: <N/A>\n"
            "  traceback : Signal 15 (SIGTERM) received by PID 9615\n"
            "------------------------------------------------------------\n"
            "Root Cause (first observed failure):\n"
            "[0]:\n"
            "  time      : 2026-11-21_01:12:30\n"
            "  host      : localhost\n"
            "  rank      : 1 (local_rank: 1)\n"
            "  exitcode  : 3 (pid: 9616) \n"
            "  error_file: <N/A>\n"
            "  traceback : To enable traceback see: "
            "https://pytorch.org/docs/stable/elastic/errors.html\n"
            "============================================================\n");
}

TEST(FailureTable, HasNoOtherFailures) {
  Failure only = FailureOf(0, -SIGSEGV, 10);
  const std::string table = FailureTable("a", {only});
  EXPECT_NE(table.find("Failures:\n  <NO_OTHER_FAILURES>\n"), std::string::npos);
  EXPECT_NE(table.find("exitcode  : -11"), std::string::npos);
  EXPECT_NE(table.find("(SIGSEGV)"), std::string::npos);
}

TEST(FailureTable, IndentsTheCallStackOfAnErrorFile) {
  Failure failure = FailureOf(0, 1, 10);
  failure.error_file = "/tmp/error.json";
  failure.report =
      answers::ErrorReport{"ValueError: boom", "Traceback\n  File\nValueError: boom", 9};
  const std::string table = FailureTable("a", {failure});
  EXPECT_NE(table.find("  error_file: /tmp/error.json\n"
                       "  traceback : Traceback\n    File\n  ValueError: boom\n"),
            std::string::npos)
      << table;
}

TEST(ExplainFailure, NamesCauseEvidenceAndAdvice) {
  struct Case {
    std::string tail;
    int exit_code;
    std::string kind;
    std::string cause;
  };
  const std::string traceback = "Traceback (most recent call last):\n  File \"x.py\", line 1\n";
  const std::vector<Case> cases = {
      {traceback + "ValueError: boom\n", 1, "exception", "ValueError: boom"},
      {traceback + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried ...\n", 1,
       "cuda-out-of-memory", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried ..."},
      {traceback + "ModuleNotFoundError: No module named 'torch'\n", 1, "import",
       "ModuleNotFoundError: No module named 'torch'"},
      {"usage: x\nx.py: error: unrecognized arguments: --local-rank=0\n", 2, "arguments",
       "exit code 2, its last line: x.py: error: unrecognized arguments: --local-rank=0"},
      {"  File \"x.py\", line 1\n    x=\n      ^\nSyntaxError: invalid syntax\n", 1, "syntax",
       "SyntaxError: invalid syntax"},
      {"python3: can't find '__main__' module in '/x'\n", 1, "arguments",
       "exit code 1, its last line: python3: can't find '__main__' module in '/x'"},
      {"python3: No module named a.__main__; 'a' is a package and cannot be directly executed\n", 1,
       "arguments",
       "exit code 1, its last line: python3: No module named a.__main__; 'a' is a package and "
       "cannot "
       "be directly executed"},
      {"  File \"/x/./run.sh\", line 2\n    echo \"$RANK\"\n         ^\nSyntaxError: invalid "
       "syntax\n",
       1, "arguments", "SyntaxError: invalid syntax"},
      {"a warning\nthe data set is empty\n", 1, "exit-code",
       "exit code 1, its last line: the data set is empty"},
      {"", 7, "exit-code", "exit code 7"},
      {"", -SIGSEGV, "signal", "ended by signal 11 (SIGSEGV)"},
      {"", -SIGABRT, "signal", "ended by signal 6 (SIGABRT)"},
      {"terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce "
       "fail at gloo/transport/tcp/pair.cc:464] op.preamble.length <= op.nbytes. 2000 vs 1000.\n",
       -SIGABRT, "collective-mismatch", "ended by signal 6 (SIGABRT)"},
  };
  for (const Case& one : cases) {
    Failure failure = FailureOf(0, one.exit_code, 1);
    failure.stderr_tail = one.tail;
    const Explanation explanation = Explain(failure, {});
    EXPECT_EQ(explanation.kind, one.kind);
    EXPECT_EQ(explanation.cause, one.cause);
    EXPECT_NE(explanation.advice, "");
    EXPECT_EQ(explanation.evidence.empty(), one.tail.empty());
  }
  Failure killed = FailureOf(0, -SIGKILL, 1);
  killed.was_out_of_memory = true;
  EXPECT_EQ(Explain(killed, {}).kind, "out-of-memory");
}

TEST(ExplainFailure, JudgesAReportThatHasNoTraceback) {
  Failure failure = FailureOf(0, 1, 1);
  failure.report =
      answers::ErrorReport{"RuntimeError: CUDA out of memory. Tried to allocate", "", 9};
  EXPECT_EQ(Explain(failure, {}).kind, "cuda-out-of-memory");
}

TEST(ExplainFailure, ABrokenPipeMayBeOfAnyReader) {
  FailureContext context;
  context.world_size = 2;
  Failure failure = FailureOf(0, 1, 1);
  failure.stderr_tail =
      "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    print(1)\n"
      "BrokenPipeError: [Errno 32] Broken pipe\n";
  EXPECT_EQ(Explain(failure, context).kind, "exception");
}

TEST(ExplainFailure, SilenceOnAFullDiskIsTheDisks) {
  FailureContext context;
  context.is_log_disk_full = true;
  Failure failure = FailureOf(0, 1, 1);
  EXPECT_EQ(Explain(failure, context).kind, "disk-full");
  failure.stderr_tail = "KeyError: 1\n";
  EXPECT_EQ(Explain(failure, context).kind, "exit-code");
}

TEST(ExplainFailure, AnAbortAfterAnExceptionIsTheExceptions) {
  Failure root = FailureOf(1, -SIGABRT, 10);
  root.stderr_tail =
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n"
      "RuntimeError: [enforce fail at inline_container.cc:445] . PytorchStreamWriter failed "
      "writing "
      "file data/0: file write failed\nterminate called after throwing an instance of "
      "'c10::Error'\n  what():  [enforce fail at inline_container.cc:325] . unexpected pos\n";
  const Explanation writing = Explain(root, {});
  EXPECT_EQ(writing.kind, "checkpoint-write");
  EXPECT_TRUE(writing.cause.starts_with("RuntimeError: [enforce")) << writing.cause;
  EXPECT_TRUE(writing.evidence.back().starts_with("RuntimeError: [enforce"));
  root.stderr_tail.insert(root.stderr_tail.find("terminate"), "step 2\n");
  EXPECT_EQ(Explain(root, {}).cause, "ended by signal 6 (SIGABRT)");
}

TEST(ExplainFailure, IsOneScreen) {
  Failure failure = FailureOf(1, 1, 1);
  failure.stderr_tail = "Traceback (most recent call last):\n";
  for (int i = 0; i < 100; ++i) failure.stderr_tail += "  File " + std::string(500, 'x') + "\n";
  failure.stderr_tail += "ValueError: boom\n";
  FailureContext context;
  context.title = "x.py";
  context.world_size = 2;
  context.max_restarts = 3;
  context.report_file = "/r";
  const std::string text = ExplainText({failure}, context);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
  EXPECT_NE(text.find("why       : ValueError: boom"), std::string::npos);
  EXPECT_EQ(text, ExplainText({failure}, context));
  const auto json = text::ParseJson(FailureJson({failure}, context));
  ASSERT_TRUE(json);
  EXPECT_EQ(text::GetString(*json, {"root_cause", "message"}), "ValueError: boom");
}

TEST(ExplainFailure, ARankThatWasDoneEarlyIsTheCauseOfThoseThatWaited) {
  Failure failure = FailureOf(0, 1, 1);
  failure.stderr_tail =
      "Traceback (most recent call last):\n  File \"x.py\", line 3\nRuntimeError: Connection "
      "closed by peer [127.0.0.1]:4711\n";
  FailureContext context;
  context.world_size = 4;
  EXPECT_EQ(Explain(failure, context).kind, "peer-lost");
  context.ended_early = {1, 3};
  const Explanation explanation = Explain(failure, context);
  EXPECT_EQ(explanation.kind, "ended-early");
  EXPECT_EQ(explanation.cause.find("rank 1, 3 had ended with exit code 0 while rank 0"), 0U);
  failure.stderr_tail = "Traceback (most recent call last):\n  File\nValueError: boom\n";
  EXPECT_EQ(Explain(failure, context).cause, "ValueError: boom");
}

TEST(ExplainFailure, ARankThatWaitedInVainNamesTheOneItWaitedFor) {
  Failure failure = FailureOf(0, 1, 1);
  failure.stderr_tail =
      "Traceback (most recent call last):\n  File \"x.py\", line 3\nRuntimeError: "
      "[unbound_buffer.cc:81] Timed out waiting 4000ms for recv operation to complete\n";
  FailureContext context;
  context.stall = "stalled 4 s: rank 1 has not entered all_reduce (x.py:3); it is at x.py:2";
  Explanation explanation = Explain(failure, context);
  EXPECT_EQ(explanation.kind, "stalled");
  EXPECT_EQ(explanation.cause.find(context.stall + " (RuntimeError: "), 0U) << explanation.cause;
  EXPECT_EQ(explanation.advice.find("look at the line where that rank was"), 0U);
  context.stall = "waiting 4 s: rank 1 has not entered all_reduce (x.py:3); it is at x.py:2";
  explanation = Explain(failure, context);
  EXPECT_EQ(explanation.kind, "collective-timeout");
  EXPECT_EQ(explanation.cause.find(context.stall), 0U);
  EXPECT_NE(explanation.advice.find("less to do"), std::string::npos);
  context.stall = "waiting 4 s: ranks 0-1 are all in all_reduce (x.py:3) and none goes on: ...";
  EXPECT_EQ(Explain(failure, context).advice.find("less to do"), std::string::npos);
  failure.stderr_tail = "Traceback (most recent call last):\n  File\nValueError: boom\n";
  EXPECT_EQ(Explain(failure, context).cause, "ValueError: boom");
}

TEST(ExplainFailure, AHostThatWasNotReachedHadNoAddress) {
  Failure failure = FailureOf(0, 1, 1);
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"x.py\", line 2, in <module>\nTimeoutError: The "
      "client socket has timed out after 4s while trying to connect to (head, 2345).\n";
  failure.stderr_tail = traceback;
  EXPECT_EQ(Explain(failure, {}).kind, "unreachable");
  failure.stderr_tail =
      "[W socket.cpp:601] [c10d] The IPv6 network addresses of (head, 2345) cannot be retrieved "
      "(gai error: -2 - Name or service not known).\n" +
      traceback;
  const Explanation explanation = Explain(failure, {});
  EXPECT_EQ(explanation.kind, "dns");
  EXPECT_NE(explanation.cause.find("cannot be retrieved"), std::string::npos);
}

TEST(ExplainFailure, ALostServerIsNotALostRank) {
  Failure root = FailureOf(1, 1, 10);
  root.stderr_tail =
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n"
      "ConnectionResetError: [Errno 104] Connection reset by peer\n";
  EXPECT_EQ(Explain(root, {}).kind, "exception");
}

TEST(ExplainFailure, OfAnotherNodeHasItsLastLines) {
  Failure failure = FailureOf(1, 7, 1);
  failure.is_elsewhere = true;
  failure.pid = 4711;
  failure.host = "node-2";
  failure.stderr_tail = "no data\n";
  const std::string text = ExplainText({failure}, {});
  EXPECT_NE(text.find("pid 4711, host node-2"), std::string::npos) << text;
  EXPECT_NE(text.find("evidence  : no data"), std::string::npos) << text;
  EXPECT_EQ(text.find("what it printed is on"), std::string::npos) << text;
}

TEST(ExplainFailure, OfAnotherNodeSaysWhereItsOutputIs) {
  Failure failure = FailureOf(1, 7, 1);
  failure.is_elsewhere = true;
  failure.pid = 0;
  failure.host = "node-2";
  const std::string text = ExplainText({failure}, {});
  EXPECT_NE(text.find("(local rank 1, host node-2)"), std::string::npos) << text;
  EXPECT_NE(text.find("why       : exit code 7"), std::string::npos) << text;
  EXPECT_EQ(text.find("evidence"), std::string::npos) << text;
  EXPECT_NE(text.find("what it printed is on node-2"), std::string::npos) << text;
  failure.report = answers::ErrorReport{"ValueError: boom", "", std::nullopt};
  EXPECT_EQ(Explain(failure, {}).cause, "ValueError: boom");
}

TEST(LauncherExitCode, IsTheRootCauses) {
  EXPECT_EQ(ExitCodeOf(FailureOf(0, 3, 1)), 3);
  EXPECT_EQ(ExitCodeOf(FailureOf(0, -SIGSEGV, 1)), 139);
}

TEST(ExplainText, SaysWhereARankHasCrashed) {
  Failure failure = FailureOf(1, -SIGSEGV, 10);
  EXPECT_EQ(ExplainText({failure}, {}).find("where"), std::string::npos);
  EXPECT_NE(Explain(failure, {}).advice.find("PYTHONFAULTHANDLER"), std::string::npos);
  failure.crash = "Segmentation fault at File \"/w/train.py\", line 8 in step";
  EXPECT_NE(
      ExplainText({failure}, {}).find("  where     : Segmentation fault at File \"/w/train.py\""),
      std::string::npos);
  EXPECT_EQ(Explain(failure, {}).advice.find("PYTHONFAULTHANDLER"), std::string::npos);
  EXPECT_EQ(text::GetString(*text::ParseJson(FailureJson({failure}, {})), {"root_cause", "crash"}),
            failure.crash);
}

}  // namespace
}  // namespace launch
