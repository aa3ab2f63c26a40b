#include "answers/symptoms.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(Symptoms, ALaunchersLineIsNoWork) {
  EXPECT_TRUE(
      IsOfLauncher("srun: Job step aborted: Waiting up to 32 seconds for job step to finish."));
  EXPECT_FALSE(IsOfLauncher("step 3 loss 0.5"));
}

TEST(Symptoms, RulersAndTheWordsOfLaunchersSayNothing) {
  for (const char* line : {"", "  ", "==========", "-----", "=   RANK 1 PID 7 RUNNING AT n1",
                           "srun: error: n1: task 3: Exited with exit code 1"}) {
    EXPECT_TRUE(SaysNothing(line)) << line;
  }
  for (const char* line : {"step 3 loss 0.5", "=-=-=", "--help",
                           "[W socket.cpp:401] [c10d] The server socket cannot be initialized"}) {
    EXPECT_FALSE(SaysNothing(line)) << line;
  }
}

TEST(Symptoms, DashNamesAScriptANumberAndAProgramWithoutBlanks) {
  for (const char* line : {"run: 3: deepspeed: not found", "./a/run.sh: 12: /opt/x: not found",
                           "n2: run: 3: deepspeed: not found"}) {
    EXPECT_TRUE(IsMissingOfDash(line)) << line;
  }
  for (const char* line : {"index: 7: shard 00017: not found", "in the index: 7: x: not found",
                           "index: x: y: not found", "7: x: not found", "x: not found",
                           ": 7: x: not found", "a: 7: : not found", ": not found"}) {
    EXPECT_FALSE(IsMissingOfDash(line)) << line;
  }
}

TEST(Symptoms, AFailureThatIsATopicAMeasureOrAPossibilityIsNone) {
  for (const char* line :
       {"mean squared error: 0.12",
        "Training error 1e-3",
        "error rate: 5%",
        "failures: 0",
        "All tests passed with no errors",
        "The failure rate of our method is low",
        "error handling is on",
        "In case of failure there is no device to fail over to",
        "Reinstall it to debug the build error.",
        "0 tests failed out of 12",
        "a detailed report is in the mirror",
        "distilled and studied",
        "if the download fails, the cache is used",
        "Failed requests:          0",
        "worker - failed to read: 0.125 - failed to scale: 0.000 - count: 512",
        "failed downloads: 3.5%",
        "A longer sequence will result in indexing errors",
        "pcieport 0000:00:01.0: AER: Corrected error received: 0000:02:00.0",
        "pcieport 0000:00:01.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
        "pcieport 0000:00:01.0:   device [8086:1234] error status/mask=00000001/00002000",
        "[n1:77] 3 more processes have sent help message help-mpi-runtime.txt / an error"}) {
    EXPECT_TRUE(OnlySpeaksOfFailure(line)) << line;
  }
  for (const char* line : {"Error: boom",
                           "training failed",
                           "validation failed: 3 of 4",
                           "error: 11",
                           "2 errors",
                           "the worker exited with an error",
                           "it failed cases that had passed",
                           "no checkpoint; it failed",
                           "no GPU, failed",
                           "it died",
                           "it was killed",
                           "Killed, error rate: 5%",
                           "could not open the file: error 5",
                           "failed to start rank: 3",
                           "failed to start rank: 0",
                           "it failed with exit code: 1.",
                           "failed to reach node: 10.0.0.1",
                           "failed to end in time: 30.5s",
                           "failed ranks: 3",
                           "failed: 3",
                           "AER: Uncorrected (Fatal) error received: 0000:02:00.0",
                           "[Hardware Error]: Uncorrected, software restartable error."}) {
    EXPECT_FALSE(OnlySpeaksOfFailure(line)) << line;
  }
}

}  // namespace
}  // namespace answers
