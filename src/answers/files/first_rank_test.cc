// Whole logs: which rank failed first.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "answers/files/read_log.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"
#include "base/strings.h"

namespace answers {
namespace {

TEST(FirstRank, AProcessThatTheProgramStartsAgainIsNoRank) {
  const Evidence evidence =
      ReadLogs({{"job.log",
                 "step 3 loss 0.2\ndata worker process 3 terminated with exit code 1, once more\n"
                 "step 4 loss 0.1\nTraceback (most recent call last):\n"
                 "  File \"/w/train.py\", line 12, in main\nValueError: x\n"}});
  EXPECT_EQ(Explain(evidence).kind, "exception");
  EXPECT_EQ(RankNamedIn(evidence), std::nullopt);
}

// The beginning of the log is missing, and with it what the first rank said.
TEST(FirstRank, OfALogThatBeginsWithinATracebackTheAgentKnowsTheFirst) {
  const std::string raised =
      "[rank3]:     return torch._C._nn.cross_entropy_loss(\n"
      "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 18.84 GiB.\n";
  const std::string agent =
      "E0320 01:57:20.826000 2699931 torch/distributed/elastic/multiprocessing/api.py:984] failed "
      "(exitcode: 1) local_rank: 2 (pid: 2700005) of binary: /usr/bin/python3\n";
  const Evidence cut = ReadLogs({{"job.log", raised + agent}});
  EXPECT_EQ(Explain(cut).kind, "cuda-out-of-memory");
  EXPECT_EQ(RankNamedIn(cut), 2);
  const std::string header =
      "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"a.py\", "
      "line 3, in f\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", header + raised + agent}})), 3);
}

TEST(FirstRank, OfAConnectionsTwoEndsNobodyKnowsWhichFailed) {
  const std::string header = "Traceback (most recent call last):\n";
  const auto raise = [&](const std::string& rank) {
    return "[" + rank + "]: " + header + "[" + rank + "]:   File \"/w/a.py\", line 3, in f\n[" +
           rank +
           "]: torch.distributed.DistBackendError: NCCL error in: P.cpp:3763, remote process "
           "exited "
           "or there was a network error, NCCL version 2.28.8\n[" +
           rank + "]: ncclRemoteError: A call failed.\n[" + rank + "]: Last error:\n[" + rank +
           "]: NET/OFI Request 0x7f completed with error. RC: 113. Error: 2 (UNDELIVERABLE).\n";
  };
  EXPECT_EQ(Explain(ReadLogs({{"job.log", raise("rank3")}})).kind, "fabric");
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", raise("rank3")}})), 3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", raise("rank3") + "[rank2]: " + header}})),
            std::nullopt);
}

TEST(FirstRank, AfterAllStepsOfATrainingNoneHasFailed) {
  const std::string raised =
      "[rank2]: Traceback (most recent call last):\n[rank2]:   File \"/w/t.py\", line 7, in f\n";
  const std::string error = "[rank2]: ImportError: cannot import name 'triton_key'\n";
  const auto kind = [](const std::string& log) {
    return Explain(ReadLogs({{"train.log", log}})).kind;
  };
  for (const std::string& caught : {raised + "[rank2]:     torch.compile(m)\n" + error,
                                    raised + error + "falling back to eager\n"}) {
    for (const std::string mark : {" | loss 2.", " loss 2."}) {
      const std::string two_steps = "step 0" + mark + "9\nstep 30" + mark + "8\n";
      const std::string steps = two_steps + "step 60" + mark + "7\n";
      EXPECT_EQ(kind(caught + two_steps), "version-mismatch");
      EXPECT_EQ(kind(caught + steps), "version-mismatch");
      for (const char* const end :
           {"`Trainer.fit` stopped: `max_epochs=3` reached.\n", "Training complete\nsaved to /m\n",
            "{'train_runtime': 81.2, 'train_samples_per_second': 9.1, 'epoch': 3.0}\n"}) {
        EXPECT_EQ(kind(caught + steps + end), "unknown") << end;
        EXPECT_EQ(kind(caught + end), "version-mismatch") << "no rank worked on";
        EXPECT_EQ(kind(steps + caught + end), "version-mismatch") << end;
        EXPECT_EQ(kind(caught + steps + end + "srun: error: n1: task 2: Exited with exit code 1\n"),
                  "version-mismatch")
            << end;
      }
    }
  }
}

TEST(FirstRank, ALogMayBeAComment) {
  const Evidence evidence =
      ReadLogs({{"job.log",
                 "# [rank1]:   File \"/w/a.py\", line 3, in f\n#\n# [rank1]: ValueError: boom\n"}});
  EXPECT_EQ(RankNamedIn(evidence), 1);
}

TEST(FirstRank, XlasProcessSaysWhichOneItIs) {
  const Evidence evidence =
      ReadLogs({{"job.log",
                 "Process 2 is using TPU:2\nException in device=TPU:2: no such split\n"
                 "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
                 "ValueError: no such split\n"}});
  EXPECT_EQ(Explain(evidence).kind, "exception");
  EXPECT_EQ(RankNamedIn(evidence), 2);
  const std::string handled =
      "step 1 loss 0.5\nException in device=TPU:3: no labels\n"
      "step 2 loss 0.4\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", handled + "KeyError: 'k'\n"}})), std::nullopt);
}

TEST(FirstRank, AProgressBarIsNoTracebackThatTheLogHasLost) {
  const std::string failure =
      "[rank1]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/w/a.py\", line 3, in f\n[rank1]: KeyError: 'k'\n";
  const auto table = [](int at, int rank) {
    return fmt::format(
        "[{}]:\n  time      : 2026-11-27_20:48:4{}\n  host      : vm\n"
        "  rank      : {} (local_rank: {})\n  exitcode  : 1 (pid: {})\n",
        at, rank, rank, rank, 900 + rank);
  };
  const std::string tables =
      "Failures:\n" + table(1, 1) + "Root Cause (first observed failure):\n" + table(0, 0);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"l", "[rank1]:   0%|    | 0/500\n" + failure + tables}})), 1);
}

TEST(FirstRank, AStepsEndIsOfNoTask) {
  const Evidence evidence =
      ReadLogs({{"job.log",
                 "0: step 1 loss 0.5\n1: step 1 loss 0.5\n1: slurmstepd: error: *** STEP 7.0 ON n3 "
                 "CANCELLED "
                 "AT 2026-01-30T23:59:41 DUE TO TIME LIMIT ***\n0: step 2 loss 0.4\n"}});
  EXPECT_EQ(Explain(evidence).kind, "deadline");
  EXPECT_EQ(RankNamedIn(evidence), std::nullopt);
}

// Ray keeps what each worker prints in a file of its session's folder.
TEST(FirstRank, RaysSessionFilesAreOfTheWorkersInTheDriversTable) {
  const std::string table =
      "(TorchTrainer pid=77) - (node_id=0b, ip=10.1.4.7, pid=2201) world_rank=0, local_rank=0\n"
      "(TorchTrainer pid=77) - (node_id=0c, ip=10.1.4.8, pid=2202) world_rank=1, local_rank=0\n";
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/fn.py\", line 40, in f\nKeyError: 'k'\n";
  const std::string lost =
      "RuntimeError: [pair.cc:534] Connection closed by peer [10.77.3.21]:4101\n";
  const auto rank_in = [&](const std::string& rows) {
    return RankNamedIn(ReadLogs({{"driver.log", rows},
                                 {"worker-5bd0c1-01000000-2201.err", lost},
                                 {"worker-99ac1f-01000000-2202.err", raised}}));
  };
  EXPECT_EQ(rank_in(table), 1);
  EXPECT_EQ(rank_in(""), std::nullopt);
  const std::string of_other_host = "- (node_id=0d, ip=10.1.4.9, pid=2202) world_rank=2\n";
  EXPECT_EQ(rank_in(table + of_other_host), std::nullopt) << "two workers have the PID";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"driver.log", table},
                                  {"a/worker-99ac1f-01000000-2202.err", lost},
                                  {"b/worker-77e0aa-02000000-2202.err", raised}})),
            std::nullopt)
      << "as a worker of another kind on another host";
}

TEST(FirstRank, WhatFrameworksPrintOfEachProcess) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const auto lightning = [](int rank) {
    return fmt::format("Initializing distributed: GLOBAL_RANK: {}, MEMBER: {}/4\n", rank, rank + 1);
  };
  EXPECT_EQ(RankNamedIn(ReadLogs({{"a.log", lightning(3) + raised}, {"b.log", lightning(0)}})), 3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"a.log", lightning(0) + lightning(3) + raised}})), std::nullopt)
      << "a log of all";
  EXPECT_EQ(
      RankNamedIn(ReadLogs(
          {{"a.log", "Num processes: 4\nProcess index: 3\nLocal process index: 1\n" + raised}})),
      3);
}

TEST(FirstRank, TwoRanksThatWroteAtTheSameTime) {
  const Evidence evidence = ReadLogs(
      {{"job.log",
        "[rank2]: Traceback (most recent call last):[rank0]: Traceback (most recent call last):\n"
        "[rank2]:   File \"/w/a.py\", line 3, in f[rank0]:   File \"/w/a.py\", line 9, in g\n\n"
        "[rank2]: KeyError: 'k'[rank0]: RuntimeError: [pair.cc:534] Connection closed by peer "
        "[10.0.0.7]:4100\n"}});
  EXPECT_EQ(Explain(evidence).line, "KeyError: 'k'");
  EXPECT_EQ(RankNamedIn(evidence), 2);
  const Evidence told = ReadLogs(
      {{"job.log",
        "[rank1]: told by [rank3]: KeyError (ignored)\n"
        "[rank1]: [rank1]: Traceback (most recent call last):\n"
        "[rank1]: [rank1]:   File \"/w/a.py\", line 3, in f\n[rank1]: [rank1]: KeyError: 'k'\n"}});
  EXPECT_EQ(RankNamedIn(told), 1);
}

std::string TorchrunsTable(int rank, int local_rank, const std::string& code) {
  return fmt::format(
      "Traceback (most recent call last):\n  File \"/opt/bin/torchrun\", line 8, in <module>\n"
      "    sys.exit(main())\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{0}\ntrain.py FAILED\n"
      "Failures:\n  <NO_OTHER_FAILURES>\nRoot Cause (first observed failure):\n[0]:\n"
      "  time      : 2024-03-23_03:10:40\n  host      : n3\n  rank      : {1} (local_rank: {2})\n"
      "  exitcode  : {3} (pid: 53828)\n  error_file: <N/A>\n"
      "  traceback : To enable traceback see: https://pytorch.org/\n{0}\n",
      std::string(60, '='), rank, local_rank, code);
}

std::string RaisedBelow(const std::string& error) {
  return "Traceback (most recent call last):\n  File \"/w/train.py\", line 51, in <module>\n"
         "    main()\n" +
         error + "\n";
}

TEST(FirstRank, AWarningAboveATracebackThatTorchrunReportsIsOfAnotherRank) {
  for (const std::string warning : {"No module named 'apex'; falling back to torch.optim.AdamW\n",
                                    "Failed to reach it (attempt 1/3), retrying in 2s\n"}) {
    const Evidence evidence =
        ReadLogs({{"job.log", warning + RaisedBelow("EOFError: Ran out of input") +
                                  TorchrunsTable(2, 2, "1")}});
    EXPECT_EQ(Explain(evidence).line, "EOFError: Ran out of input");
    EXPECT_EQ(RankNamedIn(evidence), 2);
  }
}

TEST(FirstRank, ATorchrunsTableKnowsBetterThanTheNumberInAFilesName) {
  const std::string raised = RaisedBelow("ValueError: no label") + TorchrunsTable(17, 1, "1");
  for (const std::string name : {"moco-61177-", "ddp_"}) {
    const Evidence evidence = ReadLogs({{name + "0.out", "epoch 1 loss 0.3\n"},
                                        {name + "1.out", "epoch 1 loss 0.3\n"},
                                        {name + "2.out", raised},
                                        {"slurm-61177.out",
                                         "srun: error: n3: task 2: Exited with exit code 1\n"
                                         "srun: error: n1: task 0: Exited with exit code 1\n"}});
    EXPECT_EQ(Explain(evidence).kind, "exception");
    EXPECT_EQ(RankNamedIn(evidence), 17);
  }
}

TEST(FirstRank, OfAJobWhoseMasterOnlyTheLogNamesWorker0IsRank1) {
  const Evidence evidence =
      ReadLogs({{"clip-worker-0.log",
                 "connecting to (clip-master-0, 23456)\n" + RaisedBelow("ValueError: no label")},
                {"clip-worker-1.log", "connecting to (clip-master-0, 23456)\n"}});
  EXPECT_EQ(RankNamedIn(evidence), 1);
}

TEST(FirstRank, OfVertexAisReplicasAndOfNemosFiles) {
  const auto vertex = [](const std::string& replica, const std::string& text) {
    return "ERROR   2026-06-19 13:26:02 -0700\t" + replica + "\t" + text + "\n";
  };
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"log.txt", vertex("workerpool0-0", "step 1 loss 2") +
                                 vertex("workerpool1-1", "Traceback (most recent call last):") +
                                 vertex("workerpool1-1", "  File \"/app/t.py\", line 8, in f") +
                                 vertex("workerpool1-1", "KeyError: 'k'")}})),
            2);
  EXPECT_EQ(RankNamedIn(
                ReadLogs({{"nemo_log_globalrank-9_localrank-1.txt",
                           "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
                           "KeyError: 'k'\n"},
                          {"nemo_log_globalrank-8_localrank-0.txt", "step 1 loss 2\n"}})),
            9);
}

TEST(FirstRank, AnErrorRateInTheLastLineIsNoFailure) {
  const std::string warn =
      "gpu-1:311:402 [0] misc/ibvwrap.cc:199 NCCL WARN Call to ibv_open_device failed\n";
  const auto judge = [&warn](const std::string& last) {
    return Explain(
               ReadLogs({{"job.log", warn + "epoch 5 val_error=0.295 top1_err 0.305\n" + last}}))
        .kind;
  };
  EXPECT_NE(judge("Finished training. Best error: 0.101\n"), "fabric");
}

TEST(FirstRank, PodsSayTheirRanksInWordsOfTheirPrograms) {
  const std::string raised = RaisedBelow("KeyError: 'k'");
  const auto log_of = [&raised](const std::string& zero, const std::string& five) {
    std::string log = "[pod/llm-0-q1/trainer] " + zero + "\n[pod/llm-5-m9/trainer] " + five + "\n";
    for (const std::string& line : base::Split(raised, '\n')) {
      if (!line.empty()) log += "[pod/llm-5-m9/trainer] " + line + "\n";
    }
    return RankNamedIn(ReadLogs({{"x.log", log}}));
  };
  EXPECT_EQ(log_of("rank=0 world=8", "rank=3 world=8"), 3);
  EXPECT_EQ(log_of("init (rank=0, world_size=8)", "init (rank=3, world_size=8)"), 3);
  EXPECT_EQ(log_of("env: RANK=0 WORLD_SIZE=8", "env: RANK=3 WORLD_SIZE=8"), 3);
  EXPECT_NE(log_of("rank=3 world=8", "rank=3 world=8"), 3) << "both say so";
  EXPECT_NE(log_of("node_rank=0 world=8", "node_rank=3 world=8"), 3);
  EXPECT_NE(log_of("rank=0 world=8", "rank=9 world=8"), 9);
}

TEST(FirstRank, WhatIsIrrecoverableIsNotHandled) {
  const std::string log =
      "2024-02-02 02:26:02 | ERROR | fairseq.trainer | OOM during optimization, irrecoverable\n" +
      RaisedBelow("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.10 GiB.") +
      "make: *** [Makefile:22: train] Error 1\n";
  EXPECT_EQ(Explain(ReadLogs({{"x.log", log}})).kind, "cuda-out-of-memory");
}

}  // namespace
}  // namespace answers
