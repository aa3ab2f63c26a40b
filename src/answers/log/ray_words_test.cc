#include "answers/log/ray_words.h"

#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::string_view kWorkersError =
    "ray.train.WorkerGroupError: Training failed due to worker errors:";
constexpr std::string_view kRemoteEnded =
    "torch.distributed.DistBackendError: NCCL error in: P.cpp:3690, remote process exited or there "
    "was a network error, NCCL version 2.26.2";
constexpr std::string_view kOutOfMemory = "torch.OutOfMemoryError: CUDA out of memory.";

std::optional<int> RankByRay(const Lines& lines) {
  const auto row = ReadRay(lines);
  return row ? row->rank : std::nullopt;
}

TEST(RayWords, TheOnlyExceptionThatIsNoConsequence) {
  for (const auto& [many, one] :
       {std::pair("[Rank 0, 1]:", "[Rank 3]:"), std::pair("[Rank 0, 1]", "[Rank 3]"),
        std::pair("[Rank 0,1 Error Snippet]:", "[Rank 3 Error Snippet]:")}) {
    EXPECT_EQ(RankByRay({kWorkersError, many, kRemoteEnded, one, kOutOfMemory}), 3) << one;
    EXPECT_EQ(RankByRay({kWorkersError, one, kOutOfMemory, many, kRemoteEnded}), 3) << one;
    EXPECT_EQ(RankByRay({kWorkersError, one, kOutOfMemory, kWorkersError, one, kOutOfMemory}), 3)
        << "printed twice";
    EXPECT_EQ(RankByRay({kWorkersError, one, "KeyError: 'k'"}), 3) << one;
    EXPECT_FALSE(RankByRay({kWorkersError, many, kOutOfMemory, one, kRemoteEnded})) << "one of two";
    EXPECT_FALSE(RankByRay({kWorkersError, many, kOutOfMemory, one, kOutOfMemory})) << one;
  }
  EXPECT_FALSE(
      RankByRay({kWorkersError, "[Rank 0]:", "KeyError: 'a'", "[Rank 1]:", "ValueError: b"}));
  EXPECT_FALSE(RankByRay({"[Rank 3]:", kOutOfMemory})) << "a program's own heading";
  EXPECT_FALSE(RankByRay({kWorkersError, "[Rank 3x]:", kOutOfMemory}));
}

TEST(RayWords, TheRankOfAnExceptionThatTheControllerPrints) {
  const std::string before = "(TrainController pid=44) ";
  for (const std::string heading : {"[Rank 2]", "[Rank 2]:", "[Rank 2 Error Snippet]:"}) {
    const std::string raised = std::string(kWorkersError) + "\n" + before + heading + "\n" +
                               before + "Traceback (most recent call last):\n" + before +
                               "  File \"/w/fn.py\", line 40, in train_func\n" + before +
                               "RuntimeError: shape '[32, 3]' is invalid for input of size 98\n";
    const Evidence evidence = ReadLogs({{"job.log", before + raised}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.kind, "shape-mismatch") << heading;
    ASSERT_TRUE(verdict.rank) << heading;
    EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2) << heading;
  }
}

TEST(RayWords, TheOnlyWorkerThatDied) {
  constexpr std::string_view kFirst = "- (ip=10.0.0.1, pid=20) world_rank=0, local_rank=0",
                             kSecond = "- (ip=10.0.0.2, pid=20) world_rank=1, local_rank=0",
                             kBegin = "(raylet) A worker died or was killed while executing a task";
  const std::string rest =
      " by an unexpected system error. Worker PID: 20 Worker exit type: "
      "SYSTEM_ERROR Worker exit detail: End of file. Worker IP address: ";
  const std::string first = std::string(kBegin) + rest + "10.0.0.1";
  const std::string second = std::string(kBegin) + rest + "10.0.0.2";
  const std::string raised =
      "ray.exceptions.RayTaskError(KeyError): ray::_RayTrainWorker__execute.get_next() (pid=20, "
      "ip=10.0.0.1, repr=<X>)";
  const std::string lost =
      "ray.exceptions.RayTaskError(DistBackendError): ray::_RayTrainWorker__execute.get_next() "
      "(pid=20, ip=10.0.0.1, repr=<X>)";
  EXPECT_EQ(RankByRay({kFirst, kSecond, second}), 1);
  EXPECT_EQ(RankByRay({kFirst, kSecond, second, lost, kRemoteEnded}), 1);
  EXPECT_EQ(RankByRay({kFirst, kSecond, second, raised, "KeyError: 'k'"}), 0) << "it says why";
  EXPECT_FALSE(RankByRay({kFirst, kSecond, first, second})) << "nobody knows who died first";
  EXPECT_FALSE(RankByRay({second}));
}

TEST(RayWords, OfTheLastAttempt) {
  constexpr std::string_view kAgain = "[State Transition] RESTARTING -> SCHEDULING.";
  EXPECT_EQ(RankByRay({kWorkersError, "[Rank 1 Error Snippet]:", kOutOfMemory, kAgain,
                       kWorkersError, "[Rank 2 Error Snippet]:", kOutOfMemory}),
            2);
  EXPECT_FALSE(RankByRay({kWorkersError, "[Rank 1 Error Snippet]:", kOutOfMemory, kAgain}));
}

TEST(RayWords, ATrainingThatFinishedAfterARestartIsNoFailure) {
  const std::string before = "(TrainController pid=44) ";
  const std::string restarted = before + "[State Transition] RUNNING -> RESTARTING.\n" + before +
                                "Training failed due to worker errors:\n" + before +
                                "[Rank 1 Error Snippet]:\n" + before +
                                "torch.OutOfMemoryError: CUDA out of memory.\n" + before +
                                "[State Transition] RESTARTING -> SCHEDULING.\n" + before +
                                "[State Transition] SCHEDULING -> RUNNING.\n";
  const std::string finished = before + "[State Transition] RUNNING -> FINISHED.\n";
  const auto judge = [](const std::string& log) {
    return std::string(Explain(ReadLogs({{"job.log", log}})).kind);
  };
  EXPECT_EQ(judge(restarted + finished), "unknown");
  EXPECT_EQ(judge(restarted), "cuda-out-of-memory") << "it may have failed again";
  EXPECT_EQ(judge(restarted + before + "[State Transition] RUNNING -> ERRORED.\n"),
            "cuda-out-of-memory");
  EXPECT_EQ(judge(restarted + finished +
                  "(TrainController pid=45) [State Transition] RUNNING -> "
                  "ERRORED.\n"),
            "cuda-out-of-memory")
      << "another training of the same program";
  EXPECT_EQ(judge(restarted + finished +
                  "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
                  "KeyError: 'best'\n"),
            "exception")
      << "of the driver, after the training";
}

}  // namespace
}  // namespace answers
