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
}

TEST(JoinedLogs, GrepNamesTheFileOfEachLine) {
  for (const char* const mark : {"attempt_0/#/stderr.log:", "logs/rank_#.log:7:"}) {
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
  EXPECT_EQ(JobOf("llm-workers-0-5-q1r2s"), "llm-workers");
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
