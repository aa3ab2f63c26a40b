// Logs that somebody has joined, or laid side by side: parts of one text, runs, jobs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/files/one_job.h"
#include "answers/files/read_log.h"
#include "answers/files/sections.h"
#include "answers/verdict.h"

namespace answers {
namespace {

constexpr const char* kStepsText = "step 1 loss 0.5\nstep 2 loss 0.4\n";
constexpr const char* kRaisedText =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 12, in <module>\n"
    "KeyError: 'k'\n";
constexpr const char* kPeerLostText =
    "Traceback (most recent call last):\n  File \"/w/train.py\", line 15, in <module>\n"
    "RuntimeError: [pair.cc:534] Connection closed by peer [10.0.0.9]:4122\n";

struct ToldOfJoined {
  std::optional<int> rank;
  std::string kind;
};

ToldOfJoined TellJoined(const std::vector<LogFile>& files) {
  const Evidence evidence = ReadLogs(files);
  const Verdict verdict = Explain(evidence);
  ToldOfJoined told{std::nullopt, verdict.kind};
  if (verdict.rank) told.rank = evidence.ranks[*verdict.rank].rank;
  return told;
}

// Each rank's log below a heading in which # is its number; rank 1 has raised.
std::string JoinedBy(const std::string& heading) {
  std::string text;
  for (int rank = 0; rank < 3; ++rank) {
    for (const char sign : heading)
      text += sign == '#' ? std::to_string(rank) : std::string(1, sign);
    text += std::string("\n") + kStepsText + (rank == 1 ? kRaisedText : kPeerLostText);
  }
  return text;
}

TEST(JoinedLogs, HeadingsNameTheRanks) {
  for (const char* const heading :
       {"==> logs/rank_#.log <==", "::::::::::::::\nrank_#.log\n::::::::::::::",
        "--- rank_#.err ---", "===== rank # =====", "**Rank #**\n```", "== Rank # (node 0) =="}) {
    const ToldOfJoined told = TellJoined({{"out.log", JoinedBy(heading)}});
    EXPECT_EQ(told.kind, "exception") << heading;
    EXPECT_EQ(told.rank, 1) << heading;
  }
  const std::string pods = std::string("==> sam-master-0.log <==\n") + kPeerLostText +
                           "\n==> sam-worker-0.log <==\n" + kPeerLostText +
                           "\n==> sam-worker-1.log <==\n" + kRaisedText;
  EXPECT_EQ(TellJoined({{"stdin", pods}}).rank, 2);
}

TEST(JoinedLogs, HeadingsWithinALogAreNotOfLogs) {
  std::string log;
  for (int rank = 0; rank < 3; ++rank) log += fmt::format("=== rank {} ===\ndevice ok\n", rank);
  EXPECT_TRUE(SplitSections(log + kStepsText + kRaisedText).empty());
  EXPECT_TRUE(
      SplitSections(std::string(kStepsText) + kStepsText + JoinedBy("=== rank # ===")).empty());
  EXPECT_TRUE(SplitSections(JoinedBy("=== rank # ===") + JoinedBy("=== rank # ===")).empty());
  EXPECT_TRUE(SplitSections(std::string(kStepsText) + kRaisedText).empty());
  const std::string last = std::string(kStepsText) + kRaisedText;
  for (const char* const heading :
       {"==> epoch {} <==", "==> Starting {} <==", "=== LoRA rank {} ===", "--- low rank {} ---",
        "=== rank 0: epoch {} ===", "=== rank 0 (epoch {}) ===", "=== rank {}: epoch 1 ==="}) {
    std::string epochs;
    for (int i = 0; i < 3; ++i) {
      epochs += fmt::format(fmt::runtime(heading), i) + "\n" + kStepsText + "a line\n";
    }
    EXPECT_TRUE(SplitSections(epochs + last).empty()) << heading;
    EXPECT_EQ(TellJoined({{"out", epochs + last}}).rank, std::nullopt) << heading;
  }
  std::string devices;
  for (int rank = 0; rank < 2; ++rank) {
    devices += fmt::format("=== rank {} ===\nhost gpu-01\ndevice H100\nmemory 79 GiB\n", rank);
  }
  EXPECT_TRUE(SplitSections(devices + last).empty()) << "the last one is no log of its own";
  std::string words;
  for (int i = 0; i < 60; ++i) words += "some word\n";
  EXPECT_TRUE(SplitSections(devices + words).empty());
  EXPECT_FALSE(SplitSections(devices).empty());
  EXPECT_TRUE(SplitSections(words + "==> rank_0.log <==\n" + kStepsText).empty());
  EXPECT_EQ(TellJoined({{"rank_3.log", "==> epoch 1 <==\nx\n==> epoch 2 <==\n" + last}}).rank, 3);
}

TEST(JoinedLogs, SectionsKeepTheirEmptyLines) {
  const auto parts = SplitSections("==> rank_0.log <==\na\n\nb\n==> rank_1.log <==\nc\n");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].text, "a\n\nb\n");
}

TEST(JoinedLogs, HoweverManySectionsThereAre) {
  const auto tail = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("==> rank_{}.log <==\nx\n", i);
    return text;
  };
  EXPECT_EQ(SplitSections(tail(1024)).size(), 1024U);
  EXPECT_TRUE(SplitSections(tail(5000)).empty());
}

TEST(JoinedLogs, GrepNamesTheFileOfEachLine) {
  for (const char* const mark :
       {"attempt_0/#/stderr.log:", "logs/rank_#.log:7:", "logs/rank_#.log:7:10:11:04,123 "}) {
    std::string log;
    for (int rank = 0; rank < 3; ++rank) {
      const std::string_view text = rank == 1 ? kRaisedText : kPeerLostText;
      for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        for (const char sign : std::string_view(mark)) {
          log += sign == '#' ? std::to_string(rank) : std::string(1, sign);
        }
        log += std::string(text.substr(at, text.find('\n', at) + 1 - at));
      }
    }
    const ToldOfJoined told = TellJoined({{"grep.txt", log}});
    EXPECT_EQ(told.kind, "exception") << log;
    EXPECT_EQ(told.rank, 1) << log;
  }
}

TEST(JoinedLogs, GrepsLinesKeepTheirTimes) {
  const auto parts =
      SplitSections("r_0.log:10:11:04,123 a\nr_0.log:10:11:05: b\nr_1.log:12:10:11:04 c\n");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].text, "10:11:04,123 a\n10:11:05: b\n");
  EXPECT_EQ(parts[1].text, "10:11:04 c\n");
}

TEST(JoinedLogs, TheLastRunCounts) {
  const auto table = [](int rank, const std::string& host) {
    return fmt::format(
        "============\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2025-04-01_10:00:00\n  host      : {}\n  rank      : {} (local_rank: {})\n"
        "  exitcode  : 1 (pid: 31)\n============\n",
        host, rank, rank % 2);
  };
  const std::string first = "[rank1]: ValueError: x\n" + table(1, "n1");
  const std::string second = "[rank0]: KeyError: 'k'\n";
  const std::string threads =
      "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default\n";
  for (const std::string& begin :
       {std::string("nohup: ignoring input\n"), threads,
        std::string("jo@gpu:~/w$ torchrun --nproc-per-node 2 train.py\n")}) {
    const std::string log = begin + first + begin;
    EXPECT_EQ(TellJoined({{"nohup.out", log + second + table(0, "n1")}}).rank, 0) << begin;
    EXPECT_EQ(TellJoined({{"nohup.out", log}}).rank, 1) << begin;
  }
  const std::string nodes = threads + first + threads + "[rank2]: " + kStepsText + table(2, "n2");
  EXPECT_EQ(TellJoined({{"all.out", nodes}}).rank, 1);
  const std::string other = "$ python train.py\n[rank1]: KeyError: 'k'\n$ python env.py\nok\n";
  EXPECT_EQ(TellJoined({{"out", other}}).rank, 1);
  const std::string check = "$ python check.py\nok\n";
  const std::string failed = "$ torchrun train.py\n[rank1]: KeyError: 'k'\n";
  for (const std::string& runs : {check + failed + check, failed + check + check}) {
    EXPECT_EQ(TellJoined({{"out", runs}}).rank, 1) << "another program's run";
  }
  for (const std::string hint : {"  $ python train.py\nor\n  $ python train.py --fresh\nbye\n",
                                 "# python train.py\n# python train.py\nbye\n",
                                 "To resume:\n  # python train.py\n  # python train.py\nbye\n"}) {
    EXPECT_EQ(TellJoined({{"out", "[rank1]: KeyError: 'k'\n" + hint}}).rank, 1) << hint;
  }
  const std::string nohup = "nohup: ignoring input\n";
  EXPECT_EQ(TellJoined({{"out", nohup + "[rank1]: using cuda:1\n" + nohup +
                                    "[rank0]: using cuda:0\n[rank1]: KeyError: 'k'\n"}})
                .rank,
            1);
  EXPECT_EQ(ReadLogs({{"out", nohup + "starts a\n" + nohup + "starts b\n"}}).ranks[0].lines.size(),
            4U)
      << "two that run at once";
}

TEST(JoinedLogs, OneOfSeveralJobsIsExplained) {
  const std::string gpt = std::string(kStepsText) + kRaisedText;
  const ToldOfJoined told = TellJoined({{"bert-worker-0.log", kStepsText},
                                        {"bert-worker-1.log", kPeerLostText},
                                        {"gpt-master-0.log", kPeerLostText},
                                        {"gpt-worker-0.log", gpt}});
  EXPECT_EQ(told.kind, "exception");
  EXPECT_EQ(told.rank, 1);
  const ToldOfJoined of_workers = TellJoined({{"bert-master-0.log", kStepsText},
                                              {"bert-worker-0.log", kStepsText},
                                              {"gpt-worker-0.log", kPeerLostText},
                                              {"gpt-worker-1.log", gpt}});
  EXPECT_EQ(of_workers.rank, 1);  // the master is the other job's
  const ToldOfJoined indexed = TellJoined({{"a-0-x1y2z.log", kPeerLostText},
                                           {"a-1-x1y2w.log", gpt},
                                           {"b-0-qqqqq.log", kStepsText},
                                           {"b-2-ccccc.log", kStepsText}});
  EXPECT_EQ(indexed.rank, 1);
  EXPECT_TRUE(IsOfJob("describe-gpt", "gpt"));
  EXPECT_FALSE(IsOfJob("gpt2", "gpt"));
  EXPECT_EQ(JobOf("llm-workers-0-5-q1r2s"), "llm") << "a JobSet's jobs are one";
  EXPECT_TRUE(IsOfJob(JobOf("gpt-dataset-initializer-0-0-abcde"), JobOf("gpt-node-0-1-x7f2k")));
  EXPECT_EQ(JobOf("cpu-node-1"), "") << "a host";
  EXPECT_EQ(JobOf("rc-small-worker-x1y2z"), "") << "a pod of KubeRay";
  EXPECT_EQ(JobOf("sam-worker-"), "");
}

TEST(JoinedLogs, TheJobsThatWereLeftOutAreNamed) {
  const Evidence evidence = ReadLogs({{"bert-worker-0.log", kStepsText},
                                      {"gpt-worker-0.log", kRaisedText},
                                      {"t5-worker-0.log", kStepsText}});
  const auto missing = Explain(evidence).missing;
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0], "the logs of other jobs, which were left out: bert, t5");
}

TEST(JoinedLogs, OfJobsThatFailedWithoutTimesNoneIsLeftOut) {
  const auto prefixed = [](const std::string& prefix) {
    std::string lines;
    for (std::string_view text = kRaisedText; !text.empty();) {
      const size_t end = text.find('\n') + 1;
      lines += prefix + std::string(text.substr(0, end));
      text.remove_prefix(end);
    }
    return lines;
  };
  const auto names = [](const std::string& log) {
    std::vector<std::string> pods;
    for (const Rank& rank : ReadLogs({{"all.log", log}}).ranks) pods.push_back(rank.name);
    return pods;
  };
  EXPECT_EQ(names(prefixed("data-worker-1  | ") + prefixed("train-worker-1  | ")).size(), 2U);
  EXPECT_EQ(names(prefixed("cpu-node-1: ") + prefixed("gpu-node-2: ")).size(), 2U);
  const std::string early = prefixed("[pod/a-worker-0/main] 2026-03-02T10:11:04Z ");
  const std::string late = prefixed("[pod/b-worker-0/main] 2026-03-02T10:11:05Z ");
  EXPECT_EQ(names(late + early), std::vector<std::string>{"a-worker-0"});
}

TEST(JoinedLogs, AnExceptionThatTorchrunsProcessSurvivedDidNotEndIt) {
  const std::string log =
      "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default\n"
      "step 100 loss 0.5\n" +
      std::string(kRaisedText) + "step 200 loss 0.4\nstep 300 loss 0.4\n";
  const std::string cancelled =
      "slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-03-02T10:11:04 DUE TO TIME LIMIT ***\n";
  EXPECT_EQ(TellJoined({{"out", log + cancelled}}).kind, "deadline");
  const std::string agent =
      "E0320 01:57:20.826000 31 torch/distributed/elastic/multiprocessing/api.py:984] failed "
      "(exitcode: 1) local_rank: 2 (pid: 33) of binary: /usr/bin/python3\n";
  EXPECT_EQ(TellJoined({{"out", log + agent}}).kind, "exception");
}

TEST(JoinedLogs, TextsOfAServiceAreLogs) {
  const std::string escaped =
      R"(step 1 loss 0.5\n[rank2]: Traceback (most recent call last):\n[rank2]:   File \"/w/a.py\", )"
      R"(line 1, in f\n[rank2]: KeyError: 'k'\n[rank0]: step 2 loss 0.5\n)";
  for (const std::string& log :
       {R"({"job": "j-1", "logs": ")" + escaped + "\"}",
        "fatal: [gpu2]: FAILED! => {\"rc\": 1, \"stderr\": \"" + escaped + "\"}\n",
        "{'returncode': 1, 'stderr': \"" + escaped + "\"}"}) {
    const ToldOfJoined told = TellJoined({{"answer.txt", log}});
    EXPECT_EQ(told.kind, "exception") << log;
    EXPECT_EQ(told.rank, 2) << log;
  }
}

}  // namespace
}  // namespace answers
