// What the last lines of a log decide: a closing word is not the cause, and an error that nothing
// follows is not a good end.
#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

Verdict Judge(const std::string& text) { return Explain(ReadLogs({{"train.log", text}})); }

TEST(LastWords, SlurmsReasonStandsBeforeItsClosingLine) {
  const std::string closing = "sbatch: error: Batch job submission failed: Unspecified error\n";
  const std::string reason = "sbatch: error: gpu takes jobs with an account of their own\n";
  const Verdict verdict =
      Judge("submitting\n" + reason + "sbatch: error: use --account\n" + closing);
  EXPECT_EQ(verdict.kind, "admission");
  EXPECT_EQ(verdict.line + "\n", reason);
  EXPECT_EQ(Judge("submitting\n" + closing).line + "\n", closing);
}

TEST(LastWords, AStepsDaemonMayHaveItsHostInItsName) {
  const std::string cancelled =
      "slurmstepd-gpu07: error: *** STEP 7.0 ON gpu07 CANCELLED AT 2026-03-02T10:11:14 ***\n";
  EXPECT_EQ(Judge("step 10 loss 0.5\n" + cancelled).kind, "stopped");
  EXPECT_EQ(Judge("srun: error: gpu07: task 3: Exited with exit code 1\n"
                  "srun: Terminating StepId=7.0\n" +
                  cancelled)
                .kind,
            kUnknown);
  EXPECT_EQ(Judge("[2026-03-02T10:11:14.010] error: *** STEP 7.0 ON gpu07 CANCELLED AT "
                  "2026-03-02T10:11:14 DUE TO TASK FAILURE ***\n"
                  "srun: error: gpu07: tasks 0-7: Terminated\n")
                .kind,
            kUnknown);
  EXPECT_EQ(Judge("the name slurmstepd-gpu07 alone\n").title,
            "nothing in these data says that it failed");
}

TEST(LastWords, AnErrorThatNothingFollowsIsNoGoodEnd) {
  const std::string error = "[1,5]<stderr>:ERROR: shutting down the rank\n";
  EXPECT_EQ(Judge("[1,0]<stdout>:step 10 loss 0.5\n" + error).title,
            "it failed, and these data do not say why");
  EXPECT_EQ(Judge(error + "[1,5]<stdout>:step 11 loss 0.4\n").title,
            "nothing in these data says that it failed");
  EXPECT_EQ(Judge("warning: libfabric.so.1: cannot open shared object file: No such file or "
                  "directory\nloaded 8 shards\n")
                .title,
            "nothing in these data says that it failed");
  for (const char* healthy : {"+ export TORCH_NCCL_ASYNC_ERROR_HANDLING=1\ndone\n",
                              "ERROR:absl:could not write the summary, continuing\nsaved\n"}) {
    EXPECT_EQ(Judge(healthy).title, "nothing in these data says that it failed") << healthy;
  }
}

TEST(LastWords, WhatARankSaysOfAnotherProcessNamesNoRank) {
  EXPECT_EQ(Judge("Rank 2: tokenizer subprocess exited with code 1, falling back\nstep 5 loss "
                  "0.5\n")
                .title,
            "nothing in these data says that it failed");
  const Verdict well = Judge(
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in <module>\n    f()\n"
      "ValueError: bad\nrank 0 exited with code 0\nrank 1 exited with code 1\n");
  EXPECT_NE(well.rank, std::optional<size_t>(0));
}

// What Open MPI, Intel MPI and MPICH print at the end of a job.
const std::string kRuler(83, '=');
const std::string kOpenMpisAbort =
    "--------------------------------------------------------------------------\n"
    "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 14.\n\n"
    "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"
    "You may or may not see output from other processes, depending on\n"
    "exactly when Open MPI kills them.\n"
    "--------------------------------------------------------------------------\n";
const std::string kOpenMpisExit =
    "--------------------------------------------------------------------------\n"
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "--------------------------------------------------------------------------\n"
    "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
    "the job to be terminated. The first process to do so was:\n\n"
    "  Process name: [[29973,1],3]\n  Exit code:    1\n"
    "--------------------------------------------------------------------------\n";
const std::string kIntelsEnd =
    kRuler + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n" +
    "=   RANK 3 PID 92248 RUNNING AT n1\n=   KILLED BY SIGNAL: 9 (Killed)\n" + kRuler + "\n";
const std::string kMpichsEnd =
    kRuler + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n" +
    "=   PID 92248 RUNNING AT n1\n=   EXIT CODE: 2\n=   CLEANING UP REMAINING PROCESSES\n" +
    "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" + kRuler + "\n" +
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Hangup (signal 1)\n" +
    "This typically refers to a problem with your application.\n" +
    "Please see the FAQ page for debugging suggestions\n";

TEST(LastWords, TheProgramsStandAboveThoseOfMpi) {
  for (const std::string& words : {std::string("ERROR: rank 3 found 7 shards where 8 were needed"),
                                   std::string("config.yaml: version 3 is not supported here")}) {
    for (const std::string& end : {kOpenMpisAbort, kOpenMpisExit, kMpichsEnd}) {
      EXPECT_EQ(Judge("step 1 loss 0.5\n" + words + "\n" + end).line, words) << end;
    }
  }
}

TEST(LastWords, OfManyProcessesThatHydraListsTheProgramsWordsStandFarAbove) {
  std::string ends;
  for (int i = 0; i < 8; ++i) ends += kIntelsEnd;
  const std::string words = "ERROR: found 7 shards where 8 were needed";
  const std::string abort = "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 3\n";
  EXPECT_EQ(Judge("step 1 loss 0.5\n" + words + "\n" + ends).line, words);
  EXPECT_EQ(Judge("step 1 loss 0.5\n" + words + "\n" + abort + ends).line, words);
}

TEST(LastWords, OfWorkAloneTheLaunchersWordsSayMore) {
  EXPECT_EQ(Judge("step 1 loss 0.5\n" + kOpenMpisAbort).line,
            "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD");
  EXPECT_EQ(Judge(kOpenMpisExit).line, "Process name: [[29973,1],3]");
}

TEST(LastWords, SrunsWordsSayLessThanTheRanks) {
  const Verdict verdict = Judge(
      "step 1 loss 0.5\nERROR: no such split: vall\n"
      "srun: error: n1: task 3: Exited with exit code 1\nsrun: Terminating StepId=7.0\n");
  EXPECT_EQ(verdict.line, "ERROR: no such split: vall");
}

TEST(LastWords, AProgramMayHaveTheNameOfALaunchersFile) {
  const std::string words = "launch.py:42 ERROR: no such split: vall";
  EXPECT_EQ(
      Judge("step 1 loss 0.5\n" + words + "\nsrun: error: n1: task 3: Exited with exit code 1\n")
          .line,
      words);
}

TEST(LastWords, ACauseMayStandBelowItsException) {
  const Verdict verdict = Judge(
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in <module>\n    f()\n"
      "RuntimeError: could not write /out/step-500\n[Errno 28] No space left on device\n");
  EXPECT_EQ(verdict.kind, "disk-full");
  EXPECT_EQ(verdict.line, "[Errno 28] No space left on device");
}

TEST(LastWords, WhatHelpedTheKernelEndedNoProgram) {
  const std::string reset =
      "step 10 loss 0.5\n[  912.104] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link "
      "12\nstep 11 loss 0.4\n";
  EXPECT_EQ(Judge(reset).kind, "gpu-hardware");
  EXPECT_EQ(Judge(reset + "training finished\n").kind, kUnknown);
}

}  // namespace
}  // namespace answers
