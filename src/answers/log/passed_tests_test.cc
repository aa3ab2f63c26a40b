#include "answers/log/passed_tests.h"

#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

TEST(PassedTests, ByTheLastLinesOfEachRunner) {
  EXPECT_TRUE(EndsWithPassedTests({"-----", "Ran 2 tests in 0.012s", "", "OK", ""}));
  EXPECT_TRUE(EndsWithPassedTests({"Ran 1 test in 0.012s", "", "OK (skipped=1)"}));
  EXPECT_TRUE(
      EndsWithPassedTests({"===== 2 passed, 1 skipped, 3 warnings in 63.02s (0:01:03) ==="}));
  EXPECT_TRUE(EndsWithPassedTests({"...", "3 passed in 0.02s"}));
  EXPECT_TRUE(EndsWithPassedTests({"...", "3 passed in 0.02s",
                                   "a.py:4: UserWarning: resource_tracker: There appear to be 1",
                                   "  warnings.warn('resource_tracker: There appear to be %d '"}));
  EXPECT_TRUE(EndsWithPassedTests({"[  PASSED  ] 12 tests.", "", "  YOU HAVE 1 DISABLED TEST"}));
  EXPECT_TRUE(EndsWithPassedTests(
      {"100% tests passed, 0 tests failed out of 4", "", "Total Test time (real) =   1.02 sec"}));
}

TEST(PassedTests, NotIfOneFailedOrMoreFollows) {
  EXPECT_FALSE(EndsWithPassedTests({"Ran 2 tests in 0.012s", "", "FAILED (failures=1)"}));
  EXPECT_FALSE(EndsWithPassedTests({"Ran 0 tests in 0.000s", "", "OK"}));
  EXPECT_FALSE(EndsWithPassedTests({"step 1", "OK"}));
  EXPECT_FALSE(EndsWithPassedTests({"=== 1 failed, 2 passed in 0.02s ==="}));
  EXPECT_FALSE(EndsWithPassedTests({"=== 2 passed, 1 error in 0.02s ==="}));
  EXPECT_FALSE(EndsWithPassedTests({"=== 2 skipped in 0.02s ==="}));
  EXPECT_FALSE(EndsWithPassedTests({"2 passed in review"}));
  EXPECT_FALSE(
      EndsWithPassedTests({"[  PASSED  ] 11 tests.", "[  FAILED  ] 1 test, listed below:"}));
  EXPECT_FALSE(EndsWithPassedTests({"Ran 2 tests in 0.012s", "", "OK", "python train.py"}));
  EXPECT_FALSE(EndsWithPassedTests({}));
}

TEST(PassedTests, WhatTheirTestsPrintIsNoFailure) {
  const std::string log =
      "test_timeout (test_words.Words) ... RuntimeError: CUDA error: device-side assert triggered\n"
      "ok\n[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n"
      "Ran 2 tests in 0.100s\n\n";
  const Verdict verdict = Explain(ReadLogs({{"out", log + "OK\n"}}));
  EXPECT_EQ(verdict.kind, "unknown");
  EXPECT_TRUE(verdict.line.empty());
  EXPECT_FALSE(Explain(ReadLogs({{"out", log + "FAILED (errors=1)\n"}})).line.empty());
}

TEST(PassedTests, OfOneProcessSayNothingOfTheOthers) {
  const std::string failed =
      "1: Traceback (most recent call last):\n1:   File \"/w/a.py\", line 3, in f\n"
      "1: KeyError: 'k'\n1: ==== 1 failed in 0.10s ====\n"
      "srun: error: n1: task 1: Exited with exit code 1\n";
  const Evidence evidence = ReadLogs({{"out", failed + "0: ==== 3 passed in 0.20s ====\n"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, "exception");
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
  const std::string child = "[rank1]: Traceback (most recent call last):\n[rank1]: KeyError: 'k'\n";
  EXPECT_TRUE(Explain(ReadLogs({{"out", child + "3 passed in 0.20s\n"}})).line.empty());
  EXPECT_TRUE(Explain(ReadLogs({{"out", child + "[rank1]: 3 passed in 0.20s\n"}})).line.empty());
}

}  // namespace
}  // namespace answers
