// Whole logs: which rank failed first.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "answers/files/read_log.h"
#include "answers/verdict.h"
#include "base/strings.h"

namespace answers {
namespace {

std::optional<int> RankNamedIn(const Evidence& evidence) {
  const Verdict verdict = Explain(evidence);
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

std::string HydrasBlock(int rank, const std::string& end) {
  const std::string ruler(83, '=');
  return ruler + "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK " +
         std::to_string(rank) + " PID " + std::to_string(5490 + rank) +
         " RUNNING AT n1\n=   " + end + "\n" + ruler + "\n";
}

TEST(FirstRank, WhomHydraKilledIsNotWhoRaised) {
  const Evidence evidence = ReadLogs({{"job.log",
                                       "step 1 loss 0.5\nTraceback (most recent call last):\n"
                                       "  File \"/w/train.py\", line 12, in main\n"
                                       "ValueError: rank 0 found no label\n\n" +
                                           HydrasBlock(1, "KILLED BY SIGNAL: 9 (Killed)")}});
  EXPECT_EQ(Explain(evidence).kind, "exception");
  EXPECT_EQ(RankNamedIn(evidence), std::nullopt);
}

TEST(FirstRank, TheKernelSaysWhichOfThoseThatHydraListsItKilled) {
  const std::string killed = "KILLED BY SIGNAL: 9 (Killed)";
  const Evidence evidence = ReadLogs(
      {{"dmesg",
        "[8123.1] Memory cgroup out of memory: Killed process 5491 (python3.11) "
        "total-vm:91234kB, anon-rss:81234kB\n"},
       {"out.log", "step 1 loss 0.5\n" + HydrasBlock(0, killed) + HydrasBlock(1, killed)}});
  EXPECT_EQ(Explain(evidence).kind, "host-out-of-memory");
  EXPECT_EQ(RankNamedIn(evidence), 1);
}

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

TEST(FirstRank, WhoseIdDidNotComeInTimeIsMissing) {
  const Evidence evidence = ReadLogs(
      {{"job.log",
        "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/w/a.py\", line 3, in f\n"
        "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and "
        "retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') "
        "got error: wait timeout after 600000ms, keys: /default_pg/0//cuda//0\n"}});
  EXPECT_EQ(Explain(evidence).kind, "rendezvous");
  EXPECT_EQ(RankNamedIn(evidence), 0);
}

TEST(FirstRank, APodOfSeveralProcessesIsNoRank) {
  const std::string raised =
      "gpu-worker-1: Traceback (most recent call last):\n"
      "gpu-worker-1:   File \"/w/a.py\", line 3, in f\ngpu-worker-1: ValueError: boom\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", raised}})), 1);
  EXPECT_EQ(
      RankNamedIn(ReadLogs({{"job.log", raised + "gpu-worker-1: gpu-worker-1:2921:4504 [7] NCCL "
                                                 "INFO Setting affinity for GPU 7\n"}})),
      std::nullopt);
}

TEST(FirstRank, AReplicaOfVertexAiIsARank) {
  const auto judge = [](const std::string& sign, const std::string& before) {
    // A terminal shows a tab as blanks.
    const auto of = [&sign](const std::string& replica, const std::string& text) {
      std::string line = "ERROR";
      for (const std::string& next : {std::string("2025-03-11 10:12:00 -0700"), replica, text}) {
        if (sign == " ") line.resize((line.size() / 8 + 1) * 8, ' ');
        line += (sign == " " ? "" : sign) + next;
      }
      return line + "\n";
    };
    return RankNamedIn(ReadLogs(
        {{"train.log",
          (before.empty() ? "" : of("workerpool1-1", before)) +
              of("workerpool0-0", "step 1 loss 0.5") +
              of("workerpool1-1", "Traceback (most recent call last):") +
              of("workerpool1-1", "  File \"/w/a.py\", line 4, in main") +
              of("workerpool1-1", "KeyError: 'lr'") +
              of("service", "The replica workerpool1-1 exited with a non-zero status of 1. ")}}));
  };
  for (const char* const sign : {"\t", " "}) {
    EXPECT_EQ(judge(sign, ""), 2);
    EXPECT_EQ(judge(sign, "n1:311:402 [3] NCCL INFO Bootstrap"), std::nullopt)
        << "a replica of several processes";
  }
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

TEST(FirstRank, ALineOfLogclisLabelsIsOfItsPod) {
  const std::string of = "2026-03-02T10:11:04Z {container=\"pytorch\", pod=\"pt-worker-1\"} ";
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"loki.log",
                  "2026-03-02T10:11:02Z {container=\"pytorch\", pod=\"pt-master-0\"} step 1\n" +
                      of + "Traceback (most recent call last):\n" + of +
                      "  File \"/w/a.py\", line 4, in main\n" + of + "KeyError: 'lr'\n"}})),
            2);
}

TEST(FirstRank, ATrainJobsNodeOfOneProcessIsARank) {
  const auto from = [](const std::string& pod, std::string_view text) {
    std::string lines;
    while (!text.empty()) {
      const size_t end = text.find('\n') + 1;
      lines.append(pod).append(text.substr(0, end));
      text.remove_prefix(end);
    }
    return lines;
  };
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/t.py\", line 3, in main\nKeyError: 'lr'\n";
  for (const auto& [first, failed] :
       {std::pair("a-node-0-0-k2bdx node ", "a-node-0-2-p9bkd node "),
        std::pair("[pod/a-node-0-0-k2bdx/node] ", "[pod/a-node-0-2-p9bkd/node] ")}) {
    const std::string begin = from(first, "epoch 0 loss 5.1\n");
    EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", begin + from(failed, raised)}})), 2) << first;
    for (const std::string_view several :
         {"Setting OMP_NUM_THREADS environment variable for each process to be 1 in default\n",
          "  local_ranks=[0, 1]\n"}) {
      EXPECT_EQ(RankNamedIn(
                    ReadLogs({{"job.log", begin + from(failed, several) + from(failed, raised)}})),
                std::nullopt)
          << several;
    }
    EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", from("a-launcher-0-0-bcdfg node ", "ready\n") +
                                                    from(failed, raised)}})),
              std::nullopt)
        << "mpirun counts the launcher, too";
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

TEST(FirstRank, OfALocalRankTheNodesAgentKnowsTheGlobalOne) {
  const auto log = [](const std::string& global, const std::string& error) {
    return "[default] Rendezvous complete for workers. Result:\n  local_ranks=[0, 1]\n"
           "  role_ranks=[0, 1]\n  global_ranks=" +
           global + "\n[default1]:Traceback (most recent call last):\n" +
           "[default1]:  File \"/w/a.py\", line 3, in f\n[default1]:" + error + "\n";
  };
  const std::string lost = "RuntimeError: Connection closed by peer [10.0.0.7]:123";
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"n1.log", log("[0, 1]", lost)}, {"n2.log", log("[2, 3]", "KeyError: 'k'")}})),
            3);
  const std::string both = "  local_ranks=[0, 1]\n  global_ranks=[0, 1]\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", both + log("[2, 3]", "KeyError: 'k'")}})),
            std::nullopt);
}

TEST(FirstRank, TheEnvironmentThatAWorkersLogShows) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string shown = "LOCAL_RANK=2\nRANK=6\nWORLD_SIZE=8\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"gpu-b-2.log", shown + raised},
                                  {"gpu-b-3.log", "LOCAL_RANK=3\nRANK=7\nstep 1 loss 0.5\n"}})),
            6);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log",
                                   "declare -x LOCAL_RANK=\"1\"\n"
                                   "declare -x RANK=\"3\"\n" +
                                       raised}})),
            3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", "RANK=1\nWORLD_SIZE=2\n" + raised}})), std::nullopt)
      << "an operator's, of a pod with several processes";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", shown + "LOCAL_RANK=3\nRANK=7\n" + raised}})),
            std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", "LOCAL_RANK=2\nRANK=6\nWORLD_SIZE=4\n" + raised}})),
            std::nullopt);
}

TEST(FirstRank, ACommandToTryIsNoEnvironment) {
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"job.log",
                  "Start each process, for example:\n  RANK=3 LOCAL_RANK=1 python train.py\n"
                  "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
                  "KeyError: 'k'\n"}})),
            std::nullopt);
}

TEST(FirstRank, TheFirstRankOfANodeMayShowItsEnvironmentInTheLogOfAll) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string shown = "LOCAL_RANK=0\nRANK=4\nWORLD_SIZE=8\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", shown + raised}})), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", shown + "LOCAL_WORLD_SIZE=1\n" + raised}})), 4);
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"x.log", shown + raised}, {"y.log", "LOCAL_RANK=0\nRANK=5\nWORLD_SIZE=8\n"}})),
            4);
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"x.log", shown + raised}, {"y.log", "LOCAL_RANK=0\nRANK=0\nWORLD_SIZE=8\n"}})),
            std::nullopt)
      << "the first ranks of two nodes";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", "LOCAL_RANK=0\nRANK=1\nWORLD_SIZE=2\n" + raised}})), 1);
}

// SkyPilot's "rank" is that of the node.
TEST(FirstRank, OfANodesLinesItsAgentNamesTheRank) {
  const auto node = [](const std::string& name, const std::string& text) {
    std::string lines;
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      lines += "(" + name + ") " + text.substr(at, end + 1 - at);
    }
    return lines;
  };
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  time      : 2023-08-05_13:59:34\n"
      "  host      : n2\n  rank      : 5 (local_rank: 1)\n  exitcode  : 1 (pid: 22640)\n";
  const std::string head = node("head, rank=0, pid=7", "step 1 loss 0.5\n");
  const std::string worker = "worker1, rank=1, pid=8, ip=10.0.0.2";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", head + node(worker, raised + table)}})), 5);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"x.log", head + node(worker, raised)}})), std::nullopt);
}

TEST(FirstRank, ADescribedPodsLabelNamesIt) {
  const std::string lost =
      "step 3 loss 0.2\nTraceback (most recent call last):\n"
      "  File \"/w/train.py\", line 12, in main\n"
      "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:2110\n";
  const Evidence evidence = ReadLogs(
      {{"a-0.log", lost},
       {"a-1.log", "step 3 loss 0.2\n"},
       {"pods.txt",
        "Name:             a-0-x7f2k\n"
        "Labels:           batch.kubernetes.io/job-completion-index=0\n"
        "    State:          Terminated\n      Reason:       Error\n      Exit Code:    1\n"
        "Name:             a-1-k2f7x\n"
        "Labels:           batch.kubernetes.io/job-completion-index=1\n"
        "    State:          Terminated\n      Reason:       OOMKilled\n"
        "      Exit Code:    137\n"}});
  EXPECT_EQ(Explain(evidence).kind, "host-out-of-memory");
  EXPECT_EQ(RankNamedIn(evidence), 1);
}

TEST(FirstRank, APodsRowNamesTheRankWhoseLogHasItsName) {
  const std::string lost =
      "Traceback (most recent call last):\n  File \"/w/train.py\", line 12, in main\n"
      "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:2110\n";
  const auto judge = [&lost](const std::string& killed) {
    const Evidence evidence =
        ReadLogs({{"a-worker-0.log", lost},
                  {"a-worker-1.log", "step 3 loss 0.2\n"},
                  {"pods.txt", "NAME         READY   STATUS      RESTARTS   AGE\n" + killed +
                                   "   0/1     OOMKilled   0          5m\n"}});
    EXPECT_EQ(Explain(evidence).kind, "host-out-of-memory");
    return RankNamedIn(evidence);
  };
  EXPECT_EQ(judge("a-worker-1"), 1);
  EXPECT_EQ(judge("b-worker-1"), std::nullopt) << "a pod of another job";
}

TEST(FirstRank, TheOnlyOneThatTheKernelCanHaveMeant) {
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

TEST(FirstRank, TheOnlyProcessThatTheKernelKilledIsTheOnlyRankThatWasKilled) {
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

TEST(FirstRank, OfAPodThatKubectlDescribesTheLogsNameNamesTheRank) {
  const auto pod = [](const std::string& name, const std::string& reason, int code) {
    return "Name:             " + name +
           "\nNamespace:        train\nStatus:           Failed\nContainers:\n  trainer:\n"
           "    State:          Terminated\n      Reason:       " +
           reason + "\n      Exit Code:    " + std::to_string(code) + "\n\n";
  };
  const std::string lost = "RuntimeError: Connection closed by peer [10.0.0.7]:123\n";
  const std::string described =
      pod("bert-0-x0k2p", "Error", 1) + pod("bert-1-ab2cd", "OOMKilled", 137);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"bert-0.log", lost},
                                  {"bert-1.log", "step 1 loss 0.5\n"},
                                  {"describe.txt", described}})),
            1);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"bert-0.log", lost},
                                  {"bert-10.log", "step 1 loss 0.5\n"},
                                  {"describe.txt", described}})),
            std::nullopt);
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

TEST(FirstRank, OfTwoNodesLocalRanksNobodyKnowsTheGlobalOnes) {
  const std::string raised =
      "[default1]:Traceback (most recent call last):\n[default1]:  File \"/w/a.py\", line 3, in f\n"
      "[default1]:KeyError: 'k'\n"
      "failed (exitcode: 1) local_rank: 1 (pid: 320) of binary: /usr/bin/python\n";
  const std::string works = "[default0]:step 1 loss 0.5\n[default1]:step 1 loss 0.5\n";
  const Evidence two = ReadLogs({{"node-a.log", works}, {"node-b.log", raised}});
  EXPECT_EQ(Explain(two).line, "KeyError: 'k'");
  EXPECT_EQ(RankNamedIn(two), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.out", works}, {"job.err", raised}})), 1);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", works + raised}})), 1);
}

TEST(FirstRank, WhoeverTimedOutInABarrierWaitedForAnother) {
  const auto judge = [](const std::string& error) {
    return RankNamedIn(ReadLogs({{"job.log",
                                  "[rank2]: step 3\n[rank0]: Traceback (most recent call last):\n"
                                  "[rank0]:   File \"/w/a.py\", line 3, in f\n[rank0]: "
                                  "RuntimeError: " +
                                      error + "\n"}}));
  };
  EXPECT_EQ(judge("Rank 0 timed out in monitoredBarrier after 600000 ms."), std::nullopt);
  EXPECT_EQ(judge("[Rank 0]: Rank 2 failed to pass monitoredBarrier in 600000 ms"), 2);
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

std::string OfAgent(int rank) {
  const std::string begin =
      "I0619 13:11:50.110000 7 torch/distributed/elastic/agent/server/api.py:525]   ";
  return begin + "local_ranks=[0]\n" + begin + "global_ranks=[" + std::to_string(rank) + "]\n";
}

// An elastic job gives its pods ranks in the order in which they come.
TEST(FirstRank, AnAgentKnowsItsOnlyRankBetterThanThePodsName) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/t.py\", line 40, in f\nKeyError: 'k'\n";
  const std::string lost =
      "RuntimeError: [pair.cc:534] Connection closed by peer [10.77.3.21]:4101\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"bert-worker-0.log", OfAgent(0) + lost},
                                  {"bert-worker-1.log", OfAgent(3) + raised}})),
            3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"a.log", OfAgent(0) + lost}, {"b.log", OfAgent(3) + raised}})),
            3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"bert-worker-0.log", OfAgent(0) + lost},
                                  {"bert-worker-1.log", OfAgent(3) + OfAgent(2) + raised}})),
            2)
      << "after another rendezvous";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", OfAgent(0) + OfAgent(3) + raised}})), std::nullopt)
      << "two agents";
  const auto of_pod = [](const std::string& pod, std::string text) {
    std::string all;
    while (!text.empty()) {
      const size_t end = text.find('\n') + 1;
      all += "[pod/" + pod + "/pytorch] " + text.substr(0, end);
      text.erase(0, end);
    }
    return all;
  };
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", of_pod("bert-worker-0", OfAgent(0) + lost) +
                                                  of_pod("bert-worker-1", OfAgent(3) + raised)}})),
            3);
}

TEST(FirstRank, TheRanksThatTheLogsOfSeveralPodsShow) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string first = "MASTER_ADDR=localhost\nWORLD_SIZE=4\nRANK=0\nstep 1 loss 0.5\n";
  const std::string shown = "+ env\nMASTER_ADDR=vit-master-0\nWORLD_SIZE=4\nRANK=2\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"a.txt", shown + raised}, {"b.txt", first}})), 2);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"a.txt", shown + raised}, {"b.txt", shown}, {"c.txt", first}})),
            std::nullopt)
      << "two processes of a node whose rank it is";
  for (const std::string several :
       {"PET_NPROC_PER_NODE=auto\n", "CUDA_VISIBLE_DEVICES=0,1\n", "+ torchrun train.py\n"}) {
    EXPECT_EQ(RankNamedIn(ReadLogs({{"a.txt", shown + several + raised}, {"b.txt", first}})),
              std::nullopt)
        << several;
  }
  const auto vertex = [](const std::string& level, const std::string& replica,
                         const std::string& text) {
    return level + "\t2026-06-19 13:26:02 +0000\t" + replica + "\t" + text + "\n";
  };
  const std::string ready = vertex("INFO", "workerpool0-0", "RANK=0 WORLD_SIZE=3 ready") +
                            vertex("INFO", "workerpool1-1", "RANK=2 WORLD_SIZE=3 ready");
  EXPECT_EQ(
      RankNamedIn(ReadLogs(
          {{"log.txt",
            ready + vertex("ERROR", "workerpool1-1", "Traceback (most recent call last):") +
                vertex("ERROR", "workerpool1-1", "  File \"/app/task.py\", line 80, in <module>") +
                vertex("ERROR", "workerpool1-1", "ValueError: Unrecognized configuration class") +
                vertex("ERROR", "service", "The replica workerpool1-1 exited with 1.")}})),
      2);
}

TEST(FirstRank, WhereAllWaitedNoneIsTheFirst) {
  const std::string said =
      "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out "
      "waiting 1800000ms for recv operation to complete\n";
  const std::string log = "[rank0]: " + said + "[rank1]: " + said;
  const Evidence evidence = ReadLogs({{"job.log", log}});
  EXPECT_EQ(Explain(evidence).kind, "collective-timeout");
  EXPECT_EQ(RankNamedIn(evidence), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", log + "Root Cause (first observed failure):\n[0]:\n"
                                                    "  rank      : 1 (local_rank: 1)\n"
                                                    "  exitcode  : 1 (pid: 43)\n"}})),
            1)
      << "its launcher has seen it end first";
}

TEST(FirstRank, AnEventIsOfAPodThatLeftNoLog) {
  const std::string lost =
      "RuntimeError: [pair.cc:534] Connection closed by peer [10.77.3.21]:4101\n";
  const std::string evicted =
      "LAST SEEN   TYPE      REASON    OBJECT             MESSAGE\n"
      "2m          Warning   Evicted   pod/sam-worker-3   The node was low on resource: "
      "ephemeral-storage.\n";
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"events.txt", evicted}, {"sam-master-0.log", lost}, {"sam-worker-1.log", lost}})),
            4);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"events.txt", evicted},
                                  {"sam-master-0.log", lost},
                                  {"sam-worker-1.log", "[rank6]: " + lost + "[rank7]: " + lost}})),
            std::nullopt)
      << "a pod of several ranks";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"events.txt", evicted}, {"sam-worker-1.log", lost}})),
            std::nullopt)
      << "without a master";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"events.txt", evicted + "2m          Warning   Evicted   "
                                                           "pod/sam-worker-2   The node was low on "
                                                           "resource: ephemeral-storage.\n"},
                                  {"sam-master-0.log", lost}})),
            std::nullopt)
      << "nobody knows which was first";
  const std::string of_another =
      "LAST SEEN   TYPE      REASON    OBJECT              MESSAGE\n"
      "2m          Warning   Evicted   pod/bert-worker-3   The node was low on resource: "
      "ephemeral-storage.\n";
  EXPECT_EQ(
      RankNamedIn(ReadLogs(
          {{"events.txt", of_another}, {"sam-master-0.log", lost}, {"sam-worker-1.log", lost}})),
      std::nullopt)
      << "a pod of another job";
}

// `kubectl get pods -o json` without its margins, and what the API server answers.
std::string PodInJson(const std::string& name, const std::string& type, int index, int exit_code,
                      const std::string& more = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{"training.kubeflow.org/replica-index":"{}",)"
      R"("training.kubeflow.org/replica-type":"{}"}}}},"spec":{{"containers":[{{"name":"pytorch"{}}}]}},)"
      R"("status":{{"containerStatuses":[{{"name":"pytorch","lastState":{{}},"state":{{"terminated":)"
      R"({{"exitCode":{},"finishedAt":"2026-06-19T13:26:08Z","reason":"Error"}}}}}}]}}}})",
      name, index, type, more, exit_code);
}

TEST(FirstRank, ThePodsOfAListEndedAsItSays) {
  const std::string lost =
      "RuntimeError: [pair.cc:534] Connection closed by peer [10.77.3.21]:4101\n";
  const auto list = [](const std::string& second) {
    return R"({"kind":"PodList","apiVersion":"v1","items":[)" +
           PodInJson("det-master-0", "master", 0, 1) + "," + second + "]}\n";
  };
  const Evidence evidence =
      ReadLogs({{"det-master-0.log", lost},
                {"det-worker-1.log", "decode 0044.mp4\n"},
                {"pods.json", list(PodInJson("det-worker-1", "worker", 1, 139))}});
  EXPECT_EQ(Explain(evidence).kind, "native-crash");
  EXPECT_EQ(RankNamedIn(evidence), 2);
  EXPECT_EQ(
      RankNamedIn(ReadLogs({{"det-master-0.log", lost},
                            {"pods.json", list(PodInJson("det-worker-1", "worker", 1, 139))}})),
      2)
      << "it has left no log";
  const std::string gpus = R"(,"resources":{"limits":{"nvidia.com/gpu":"8"}})";
  EXPECT_EQ(RankNamedIn(
                ReadLogs({{"log.txt", lost},
                          {"pods.json", list(PodInJson("det-worker-1", "worker", 1, 139, gpus))}})),
            std::nullopt)
      << "a pod of several ranks";
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const Evidence piped = ReadLogs({{"det-master-0.log", lost},
                                   {"det-worker-1.log", raised},
                                   {"pods.json", list(PodInJson("det-worker-1", "worker", 1, 0))}});
  EXPECT_EQ(Explain(piped).line, "KeyError: 'k'") << "python train.py | tee log";
  EXPECT_EQ(RankNamedIn(piped), 2);
}

TEST(FirstRank, TheOnlyContainerThatFailedIsThePods) {
  const auto name_in = [](const std::string& statuses) {
    const Evidence evidence = ReadLogs(
        {{"det-master-0.log", "RuntimeError: [pair.cc:534] Connection closed by peer [::]:4101\n"},
         {"det-worker-1.log", "decode 0044.mp4\n"},
         {"pod.yaml",
          "apiVersion: v1\nkind: Pod\nmetadata:\n  name: det-worker-1\nstatus:\n" + statuses}});
    const Verdict verdict = Explain(evidence);
    return verdict.rank ? evidence.ranks[*verdict.rank].name : "";
  };
  const std::string ended = "  - lastState: {}\n    name: pytorch\n    state:\n      terminated:\n";
  EXPECT_EQ(name_in("  containerStatuses:\n" + ended + "        exitCode: 139\n"),
            "det-worker-1.log");
  EXPECT_EQ(name_in("  containerStatuses:\n" + ended + "        exitCode: 139\n" + ended +
                    "        exitCode: 0\n"),
            "det-worker-1.log")
      << "a second container";
  EXPECT_NE(name_in("  initContainerStatuses:\n" + ended + "        exitCode: 139\n"),
            "det-worker-1.log");
  EXPECT_NE(name_in("  containerStatuses:\n" + ended + "        exitCode: 139\n" + ended +
                    "        exitCode: 134\n"),
            "det-worker-1.log");
  EXPECT_EQ(
      name_in("  containerStatuses:\n  - lastState:\n      terminated:\n        exitCode: 139\n"
              "    name: pytorch\n    state:\n      waiting:\n        reason: CrashLoopBackOff\n"),
      "det-worker-1.log");
  EXPECT_NE(
      name_in("  containerStatuses:\n  - lastState:\n      terminated:\n        exitCode: 139\n"
              "    name: pytorch\n    state:\n      running:\n        startedAt: "
              "\"2026-06-19T13:26:08Z\"\n"),
      "det-worker-1.log")
      << "it runs again";
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

TEST(FirstRank, DeepSpeedNamesTheRanksOfNodes) {
  const auto of_host = [](const std::string& host, int node, const std::string& mapping) {
    const std::string begin = host + "[2026-06-19 13:20:01,118] [INFO] [launch.py:150:main] ";
    return begin + "nnodes=2, num_local_procs=1, node_rank=" + std::to_string(node) + "\n" + begin +
           "global_rank_mapping=defaultdict(<class 'list'>, {" + mapping + "})\n";
  };
  const auto raised_by = [](const std::string& host) {
    return host + "Traceback (most recent call last):\n" + host +
           "  File \"/w/a.py\", line 3, in f\n" + host + "KeyError: 'k'\n";
  };
  const std::string one = "'node-a1': [0], 'node-b7': [1]",
                    two = "'node-a1': [0, 1], 'node-b7': [2, 3]";
  const auto rank_in = [&](const std::string& mapping) {
    return RankNamedIn(
        ReadLogs({{"job.log", of_host("node-a1: ", 0, mapping) + of_host("node-b7: ", 1, mapping) +
                                  raised_by("node-b7: ")}}));
  };
  EXPECT_EQ(rank_in(one), 1);
  EXPECT_EQ(rank_in(two), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", of_host("", 1, one) + raised_by("")}})), 1);
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

TEST(FirstRank, DeepSpeedsLauncherKnowsWhomTheKernelKilled) {
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

TEST(FirstRank, ADeepSpeedsProcessOfOneNodeHasTheGpuOfItsRank) {
  const auto judge = [](const std::string& nodes, const std::string& gpu, const std::string& more) {
    return RankNamedIn(ReadLogs(
        {{"train.log",
          "[2024-05-25 01:00:05,232] [INFO] [launch.py:256:main] nnodes=" + nodes +
              ", num_local_procs=8, node_rank=0\n" + more +
              "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n"
              "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB "
              "(GPU " +
              gpu +
              "; 79.20 GiB total capacity; 74.00 GiB already allocated; 461.25 MiB free; "
              "78.60 GiB reserved in total by PyTorch)\n"
              "[2024-05-25 01:01:05,232] [ERROR] [launch.py:325:sigkill_handler] "
              "['python', 'a.py', '--local_rank=7'] exits with return code = 1\n"}}));
  };
  EXPECT_EQ(judge("1", "5", ""), 5);
  EXPECT_EQ(judge("2", "5", ""), std::nullopt);
  EXPECT_EQ(judge("1", "0", ""), std::nullopt) << "which all use that have not chosen theirs";
  EXPECT_EQ(judge("1", "9", ""), std::nullopt);
  EXPECT_EQ(judge("1", "5", "CUDA out of memory. Tried to allocate 1 GiB (GPU 4; x)\n"),
            std::nullopt);
}

TEST(FirstRank, TheGpuOfADeepSpeedsNodeIsOfItsGlobalRank) {
  const auto of_host = [](const std::string& host, const std::string& text) {
    return host + ": " + text + "\n";
  };
  const std::string begin = "[2024-06-02 03:11:03,601] [INFO] [launch.py:145:main] ";
  const std::string mapping =
      "global_rank_mapping=defaultdict(<class 'list'>, {'n-0': [0, 1, 2, 3], 'n-1': [4, 5, 6, 7]})";
  std::string log;
  for (const std::string host : {"n-0", "n-1"}) {
    log += of_host(host, begin + "nnodes=2, num_local_procs=4, node_rank=" + host.back());
    log += of_host(host, begin + mapping);
  }
  for (const std::string& line :
       {std::string("Traceback (most recent call last):"),
        std::string("  File \"/w/a.py\", line 3"),
        std::string("RuntimeError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 3; 39.59 "
                    "GiB total capacity; 36.11 GiB already allocated; 812.19 MiB free)")}) {
    log += of_host("n-1", line);
  }
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", log}})), 7);
}

TEST(FirstRank, AnotherLineOfABarrierNamesWhoDidNotCome) {
  const std::string timed_out =
      "[rank0]:[E311 09:12:44.120331200 ProcessGroupGloo.cpp:144] Rank 0 timed out in "
      "monitoredBarrier after 60000 ms.\nNo ranks successfully processed in monitoredBarrier.\n";
  const std::string raised =
      "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/w/a.py\", line 3, in f\n"
      "[rank0]: RuntimeError: Rank 3 failed to pass monitoredBarrier in 60000 ms\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", timed_out + raised}})), 3);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", timed_out}})), std::nullopt);
  EXPECT_EQ(RankNamedIn(ReadLogs({{"frtrace.txt",
                                   "Not all ranks joining collective, sequence number: 2210\n"
                                   "collective: nccl:_all_gather_base\nmissing ranks: {1}\n"}})),
            1);
}

TEST(FirstRank, TheIndexOfAPodIsThatOfTheLogOfItsName) {
  const auto pod = [](int index) {
    const std::string number = std::to_string(index);
    return R"({"metadata": {"name": "t-workers-0-)" + number +
           R"(-x7f2k", "labels": {"batch.kubernetes.io/job-completion-index": ")" + number +
           R"("}}, "spec": {"containers": []}, "status": {}})";
  };
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string pods = R"({"kind": "PodList", "items": [)" + pod(0) + "," + pod(3) + "]}";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"pods.json", pods},
                                  {"t-workers-0-0-x7f2k.log", "step 1 loss 2\n"},
                                  {"t-workers-0-3-x7f2k.log", raised}})),
            3);
}

TEST(FirstRank, AContainersNameIsNoPartOfItsPods) {
  const std::string raised =
      "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\nKeyError: 'k'\n";
  const std::string work = "step 1 loss 2\n";
  for (const char* const form :
       {"sam-{}_pytorch.log", "sam-{}-pytorch-current.log", "ml_sam-{}_pytorch.log",
        "sam-{}/pytorch.log", "logs/sam-{}/stdout.log"}) {
    EXPECT_EQ(RankNamedIn(ReadLogs({{fmt::format(fmt::runtime(form), "master-0"), work},
                                    {fmt::format(fmt::runtime(form), "worker-0"), work},
                                    {fmt::format(fmt::runtime(form), "worker-1"), raised}})),
              2)
        << form;
  }
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

TEST(FirstRank, HorovodNamesARankThatHasPrintedNothing) {
  const std::string of = "[1,0]<stderr>:";
  const Evidence evidence = ReadLogs(
      {{"job.log", "[1,0]<stdout>:step 1\n" + of +
                       "[2023-12-01 04:10:31.01120: W /h/stall_inspector.cc:107] One or more "
                       "tensors were submitted to be reduced, gathered or broadcasted by subset of "
                       "ranks and are waiting for remainder of ranks for more than 60 seconds.\n" +
                       of + "Missing ranks:\n" + of + "3: [allreduce.a ...]\n"}});
  EXPECT_EQ(Explain(evidence).kind, "hang");
  EXPECT_EQ(RankNamedIn(evidence), 3);
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
