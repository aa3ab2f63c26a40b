#include "answers/log/log_line.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/files/read_log.h"
#include "answers/log/line_numbers.h"
#include "answers/verdict.h"

namespace answers {
namespace {

constexpr std::string_view kRaised =
    "Traceback (most recent call last):\n"
    "  File \"/w/train.py\", line 3, in main\n"
    "    step()\n"
    "KeyError: 'lr'\n";

std::string Prefixed(std::string_view before, std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = text.find('\n') + 1;
    lines.append(before).append(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

TEST(LogLine, AMarginThatSomebodyPutBeforeAllLinesIsTakenOff) {
  for (const char* const margin : {"> ", "    ", "2026-03-02 10:11:04,120 - ",
                                   "2026/03/02 10:11:04 ", "2026-03-02T10:11:04Z  3: "}) {
    const std::string log = Prefixed(margin, kRaised);
    const Verdict verdict = Explain(ReadLogs({{"train.log", log}}));
    EXPECT_EQ(verdict.kind, "exception") << margin;
    EXPECT_EQ(verdict.line, "KeyError: 'lr'") << margin;
    EXPECT_EQ(verdict.file_line, 3) << margin;
  }
}

TEST(LogLine, NumbersOfLinesAreNoRanks) {
  const auto numbered = [](std::string_view behind, int first, std::string_view text) {
    std::string lines;
    for (int number = first; !text.empty(); ++number) {
      const size_t end = text.find('\n') + 1;
      lines += std::to_string(number) + std::string(behind) + std::string(text.substr(0, end));
      text.remove_prefix(end);
    }
    return lines;
  };
  for (const char* const behind : {": ", ":", "\t"}) {
    const Evidence evidence = ReadLogs({{"train.log", numbered(behind, 2297, kRaised)}});
    ASSERT_EQ(evidence.ranks.size(), 1U) << behind;
    EXPECT_FALSE(evidence.ranks[0].rank) << behind;
    EXPECT_EQ(Explain(evidence).file_line, 3) << behind;
  }
  EXPECT_EQ(ReadLogs({{"train.log", "0: a\n1: b\n2: c\n3: d\n"}}).ranks.size(), 4U);
  EXPECT_EQ(ReadLogs({{"train.log", "1: a\n1: b\n2: c\n3: d\n"}}).ranks.size(), 3U);
  EXPECT_EQ(ReadLogs({{"train.log", "1: a\n2: b\n3: c\n"}}).ranks.size(), 3U);
  EXPECT_EQ(ReadLogs({{"train.log", "starting\n1: a\n2: b\n3: c\nready\nsteady\n"}}).ranks.size(),
            1U);
}

TEST(LogLine, NumbersStandBeforeTimesAndAreNone) {
  std::vector<std::string_view> lines = {"8:11:04:12 a", "9:11:04:13 b", "10:11:04:14 c"};
  TakeLineNumbers(lines);
  EXPECT_EQ(lines[2], "11:04:14 c");
  lines = {"8:59:58 a", "9:00:00: b", "10:00:01,123 c", "11:00:02:123 d"};
  const std::vector<std::string_view> before = lines;
  TakeLineNumbers(lines);
  EXPECT_EQ(lines, before);
}

TEST(LogLine, NumbersOfTasksThatSrunNamesAreRanksHoweverFewLinesTheyHave) {
  const auto rank_of_second = [](const char* second, const char* end) {
    return ReadLogLines({"8: Using NCCL backend", second, "13: can't open file 'a.py'",
                         "slurmstepd: error: *** STEP 77.1 ON k1 CANCELLED ***", end})[1]
        .rank;
  };
  EXPECT_EQ(rank_of_second("12: failed", "srun: error: k4: tasks 2,12-13: Exited with exit code 2"),
            12);
  EXPECT_EQ(rank_of_second("12: failed", "srun: error: k4: task 13: Killed"), 12);
  EXPECT_EQ(rank_of_second("12: failed", "srun: error: k4: task 3: Killed"), std::nullopt)
      << "a task that printed a list";
  EXPECT_EQ(rank_of_second("12: failed", "srun: job 12 queued"), std::nullopt);
  EXPECT_EQ(rank_of_second("step 12", "srun: error: k4: task 13: Killed"), std::nullopt)
      << "not every line has one";
}

TEST(LogLine, AnEmptyLineBehindAStampIsEmpty) {
  EXPECT_EQ(ReadLogLine("2026-03-02T10:11:04Z ").text, "");
  EXPECT_EQ(ReadLogLine("  [rank3]: ValueError: ").text, "ValueError: ");
  EXPECT_EQ(ReadLogLine("    step()").text, "    step()");
}

TEST(LogLine, AColonMayStandBehindAStamp) {
  const LogLine line = ReadLogLine("2030-01-01T13:22:37.434Z: [1,2]<stderr>:ValueError: bad");
  EXPECT_EQ(line.rank, 2);
  EXPECT_TRUE(line.time);
  EXPECT_EQ(line.text, "ValueError: bad");
}

TEST(LogLine, AHostMayStandBehindAStamp) {
  const std::string log = Prefixed("2026-03-02T10:11:04Z gpu-2: [rank9]: ", kRaised);
  const Evidence evidence = ReadLogs({{"ds.log", log}});
  ASSERT_EQ(evidence.ranks.size(), 1U);
  EXPECT_EQ(evidence.ranks[0].name, "gpu-2");
  EXPECT_EQ(evidence.ranks[0].rank, 9);
  EXPECT_TRUE(evidence.ranks[0].lines[0].time);
}

TEST(LogLine, ColoursGoAlsoWhereACopyLostTheEscape) {
  EXPECT_EQ(WithoutEscapes("\x1b[1;31mKeyError\x1b[0m: x\x1b[K"), "KeyError: x");
  EXPECT_EQ(WithoutEscapes("[36m(A pid=7)[0m y"), "(A pid=7) y");
  EXPECT_EQ(WithoutEscapes("[1024] [m] a[5m"), "[1024] [m] a") << "a colour may be anywhere";
  EXPECT_EQ(WithoutEscapes("\x1b"), "\x1b");
  EXPECT_EQ(WithoutEscapes("a["), "a[");
}

TEST(LogLine, MpirunAndHorovodrunTagALineWithItsRank) {
  for (const char* const tag :
       {"[1,3]<stderr>:", "[3]<stderr>:", "[3]<stdout>:", "[1,mpirank:3,algo-2]<stderr>:",
        "[prterun-n1-4201@1,3]<stderr>: ", "[prte-n1-4201@2,3]<stdout>: ",
        "[1,3][n1:4201]<stderr>: ", "[1,3]<stderr>: ", "Tue Apr 21 18:22:53 2020[3]<stderr>:",
        "Tue Apr 21 18:22:53 2020[1,3]<stderr>:"}) {
    const std::string text = std::string(tag) + "  File \"/w/a.py\", line 3, in f";
    const LogLine line = ReadLogLine(text);
    EXPECT_EQ(line.rank, 3) << tag;
    EXPECT_EQ(line.text, "  File \"/w/a.py\", line 3, in f") << tag;
  }
  for (const char* const other :
       {"[3]<2>:", "[a]<stderr>:x", "[3] <stderr>:", "[1,3] is <stderr>:", "[n1@,3]<stderr>:x"}) {
    EXPECT_FALSE(ReadLogLine(other).rank) << other;
  }
}

TEST(LogLine, MvapichNamesItsRank) {
  const LogLine line =
      ReadLogLine("[gpu-2:mpi_rank_5][error_sighandler] Caught error: Aborted (signal 6)");
  EXPECT_EQ(line.rank, 5);
  EXPECT_EQ(line.text, "[error_sighandler] Caught error: Aborted (signal 6)");
  EXPECT_FALSE(ReadLogLine("[a:mpi_rank_5] x").rank);
  EXPECT_FALSE(ReadLogLine("[gpu-2: see a:mpi_rank_5][b] x").rank);
}

TEST(LogLine, PalsPrintsTheHostAndTheRank) {
  const std::string log = Prefixed("x1c0s25b0n0.hsn.example.org 7: ", kRaised) +
                          "x1c0s1b0n0.hsn.example.org 0: using cuda:0\n"
                          "x1c0s25b0n0.hsn.example.org: rank 7 exited with code 1\n";
  const Evidence evidence = ReadLogs({{"job.out", log}});
  EXPECT_EQ(evidence.first_rank, 7);
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 7);
  EXPECT_EQ(verdict.file_line, 3);
  const std::string of_two_hosts = Prefixed("gpu-1 7: ", kRaised) + Prefixed("gpu-2 7: ", kRaised);
  for (const Rank& rank : ReadLogs({{"job.out", of_two_hosts}}).ranks) {
    EXPECT_FALSE(rank.rank) << "a number that two hosts share is no rank";
  }
}

TEST(LogLine, ManyTasksThatSrunNamesAreRead) {
  std::string log;
  for (int i = 0; i < 9000; ++i) {
    log += "srun: error: n1: tasks 100000-100003,100005,100009: Exited with exit code 1\n";
  }
  for (int i = 0; i < 10'000; ++i) log += std::to_string(3 * i + 1) + ": step\n";
  EXPECT_FALSE(ReadLines(log, 20'000).empty());
}

TEST(LogLine, NamesOfServicesPodsAndPrograms) {
  struct Case {
    std::string_view line, pod;
    std::optional<int> rank;
  };
  for (const Case& one : {
           Case{"train.3.k3j2h1g0x@host-b    | x", "train.3", {}},
           Case{"rank2-1  | x", "rank2-1", 2},
           Case{"rank1  | x", "rank1", 1},
           Case{"worker-1  | x", "worker-1", {}},
           Case{"sam-worker-1 pytorch x", "sam-worker-1", {}},
           Case{"2026-03-02T10:11:04Z kube.var.log.containers.sam-worker-1_ml_pytorch-0a.log x",
                "sam-worker-1",
                {}},
           Case{"2026-03-02T10:11:04.123456+00:00 gpu-02 train-rank1[711]: x", "", 1},
           Case{"2026-03-02T10:11:04.123456+00:00 gpu-02 train-rank1[1234567]: x", "", 1},
           Case{"2026-03-02T10:11:04+0000 gpu-02 srun[711]: 2: x", "", 2},
           Case{"Mar 02 10:11:04 gpu-02 train-rank1[711]: x", "", 1},
           Case{"Mar 02 10:11:04 frank3 python[711]: x", "", {}},
       }) {
    const LogLine line = ReadLogLine(one.line);
    EXPECT_EQ(line.text, "x") << one.line;
    EXPECT_EQ(line.pod, one.pod) << one.line;
    EXPECT_EQ(line.rank, one.rank) << one.line;
  }
  for (const char* const text :
       {"a.b  | x", "0.731 | 0.22", "3-1 | x", "worker.1 | x", "waiting sam-worker-1 to connect",
        "2026-03-02T10:11:04Z loss/train 0.5", "loading train/data[1]: x"}) {
    EXPECT_TRUE(ReadLogLine(text).pod.empty()) << text;
    EXPECT_TRUE(std::string_view(text).ends_with(ReadLogLine(text).text)) << text;
  }
  for (const char* const text : {"Loss batch[12]: nan", "Failed shard[7]: FileNotFoundError",
                                 "waiting rank1[0]: timed out"}) {
    const std::string line = std::string("2026-03-02T10:11:04Z ") + text;
    EXPECT_EQ(ReadLogLine(line).text, text);
    EXPECT_FALSE(ReadLogLine(line).rank) << text;
  }
}

TEST(LogLine, NamespacesAndStreamsStandBeforeSeveralLines) {
  const auto pods = [](std::vector<std::string_view> lines) {
    std::vector<std::string> names;
    for (const LogLine& line : ReadLogLines(std::move(lines))) names.push_back(line.pod);
    return names;
  };
  using Pods = std::vector<std::string>;
  EXPECT_EQ(pods({"ml sam-worker-0 pytorch x", "ml sam-worker-1 pytorch y"}),
            (Pods{"sam-worker-0", "sam-worker-1"}));
  EXPECT_EQ(pods({"worker sam-worker-1 exited with code 1", "step 1", "step 2"}),
            (Pods{"", "", ""}));
  const std::string_view first = "2026-03-02T10:11:04Z job/algo-2-1746439871 x";
  const std::string_view other = "2026-03-02T10:11:05Z job/algo-1-1746439871 y";
  const std::string_view word = "2026-03-02T10:11:06Z checkpoints/run-1746439871 saved";
  const std::string_view step = "2026-03-02T10:11:07Z step 1";
  EXPECT_EQ(pods({first, other}), (Pods{"job/algo-2-1746439871", "job/algo-1-1746439871"}));
  EXPECT_EQ(pods({first, first, step}),
            (Pods{"job/algo-2-1746439871", "job/algo-2-1746439871", ""}));
  EXPECT_EQ(pods({step, word, step}), (Pods{"", "", ""}));
}

TEST(LogLine, ARankMayWriteWhereABarStood) {
  const std::string bar = "Epoch 3:  47%|####6     | 470/1000 [01:11<01:20,  6.61it/s]";
  const std::string log = Prefixed("[rank2]: ", kRaised);
  const size_t last = log.rfind("[rank2]: ");
  for (const std::string& text : {bar + log, log.substr(0, last) + bar + log.substr(last),
                                  log.substr(0, last) + bar + " " + log.substr(last)}) {
    const Evidence evidence = ReadLogs({{"train.log", text}});
    const Verdict verdict = Explain(evidence);
    EXPECT_EQ(verdict.line, "KeyError: 'lr'") << text;
    ASSERT_TRUE(verdict.rank) << text;
    EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 2) << text;
  }
}

TEST(LogLine, ServicesThatCountFromZeroAreRanks) {
  const auto told = [](const std::string& one, const std::string& other) {
    const Evidence evidence =
        ReadLogs({{"all.log", one + "step 1 loss 0.5\n" + Prefixed(other, kRaised)}});
    const Verdict verdict = Explain(evidence);
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  EXPECT_EQ(told("trainer-0  | ", "trainer-1  | "), 1);
  EXPECT_EQ(told("[pod/gpt-0/main] ", "[pod/gpt-1/main] "), std::nullopt) << "may have several";
  EXPECT_EQ(told("trainer-0  | [rank0]: ", "trainer-1  | "), 1);
  EXPECT_EQ(told("trainer-0  | [rank3]: ", "trainer-1  | "), std::nullopt);
  EXPECT_EQ(told("trainer-1  | ", "trainer-2  | "), std::nullopt);
  EXPECT_EQ(told("node-0  | ", "node-1  | "), std::nullopt);
  EXPECT_EQ(told("fold-0 | ", "fold-1 | "), std::nullopt);
  EXPECT_EQ(told("layer-0 | ", "layer-1 | "), std::nullopt);
}

}  // namespace
}  // namespace answers
