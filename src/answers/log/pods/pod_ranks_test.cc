// Whole logs: the ranks of pods.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "answers/files/read_log.h"
#include "answers/testing/named_rank.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string OfAgent(int rank) {
  const std::string begin =
      "I0619 13:11:50.110000 7 torch/distributed/elastic/agent/server/api.py:525]   ";
  return begin + "local_ranks=[0]\n" + begin + "global_ranks=[" + std::to_string(rank) + "]\n";
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

TEST(PodRanks, APodOfSeveralProcessesIsNoRank) {
  const std::string raised =
      "gpu-worker-1: Traceback (most recent call last):\n"
      "gpu-worker-1:   File \"/w/a.py\", line 3, in f\ngpu-worker-1: ValueError: boom\n";
  EXPECT_EQ(RankNamedIn(ReadLogs({{"job.log", raised}})), 1);
  EXPECT_EQ(
      RankNamedIn(ReadLogs({{"job.log", raised + "gpu-worker-1: gpu-worker-1:2921:4504 [7] NCCL "
                                                 "INFO Setting affinity for GPU 7\n"}})),
      std::nullopt);
}

TEST(PodRanks, AReplicaOfVertexAiIsARank) {
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

TEST(PodRanks, ALineOfLogclisLabelsIsOfItsPod) {
  const std::string of = "2026-03-02T10:11:04Z {container=\"pytorch\", pod=\"pt-worker-1\"} ";
  EXPECT_EQ(RankNamedIn(ReadLogs(
                {{"loki.log",
                  "2026-03-02T10:11:02Z {container=\"pytorch\", pod=\"pt-master-0\"} step 1\n" +
                      of + "Traceback (most recent call last):\n" + of +
                      "  File \"/w/a.py\", line 4, in main\n" + of + "KeyError: 'lr'\n"}})),
            2);
}

TEST(PodRanks, ATrainJobsNodeOfOneProcessIsARank) {
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

TEST(PodRanks, ADescribedPodsLabelNamesIt) {
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

TEST(PodRanks, APodsRowNamesTheRankWhoseLogHasItsName) {
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

TEST(PodRanks, OfAPodThatKubectlDescribesTheLogsNameNamesTheRank) {
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

// An elastic job gives its pods ranks in the order in which they come.
TEST(PodRanks, AnAgentKnowsItsOnlyRankBetterThanThePodsName) {
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

TEST(PodRanks, TheRanksThatTheLogsOfSeveralPodsShow) {
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

TEST(PodRanks, AnEventIsOfAPodThatLeftNoLog) {
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

TEST(PodRanks, ThePodsOfAListEndedAsItSays) {
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

TEST(PodRanks, TheOnlyContainerThatFailedIsThePods) {
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

TEST(PodRanks, TheIndexOfAPodIsThatOfTheLogOfItsName) {
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

TEST(PodRanks, AContainersNameIsNoPartOfItsPods) {
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

}  // namespace
}  // namespace answers
