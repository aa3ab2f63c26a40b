#include "answers/log/foreign_prefix.h"

#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::vector<std::string> Traceback(std::string_view before) {
  const std::string prefix(before);
  return {prefix + "Traceback (most recent call last):",
          prefix + "  File \"/w/train.py\", line 3, in main", prefix + "    step()",
          prefix + "mylib.Stop: bad"};
}

Verdict JudgeLines(const std::vector<std::string>& lines) {
  std::string log;
  for (const std::string& line : lines) log += line + "\n";
  return Explain(ReadLogs({{"train.log", log}}));
}

TEST(ForeignPrefix, IsLearntWhereATracebackBegins) {
  for (const char* const prefix :
       {"12:34:01.123 [17] ", "2026-03-02T10:11:04.1Z /ecs/train/1a2b ", "[ml-team] [train-abcde] ",
        "worker|3: ", "[gpu-1][stderr] ",
        "2026-03-02 10:11:04.123 | ERROR    | __main__:main:12 - ",
        "stderr: ", "{pod_manager.py:235} INFO - [base] ", "[job=a,try=2] "}) {
    const Verdict verdict = JudgeLines(Traceback(prefix));
    EXPECT_EQ(verdict.line, "mylib.Stop: bad") << prefix;
    EXPECT_EQ(verdict.file_line, 3) << prefix;
  }
}

TEST(ForeignPrefix, IsAlsoLearntFromFramesWhereTheBeginningIsCut) {
  std::vector<std::string> lines = Traceback("[base-1] ");
  lines.erase(lines.begin());
  EXPECT_EQ(JudgeLines(lines).line, "mylib.Stop: bad");
}

TEST(ForeignPrefix, MayNameTheRankAndDistinguishesProcesses) {
  std::vector<std::string> lines = Traceback("10:11:12.3 <rank: 5> ");
  EXPECT_EQ(ReadLogs({{"log", lines[0] + "\n" + lines[1] + "\n"}}).ranks[0].rank, 5);
  const std::vector<std::string> others = Traceback("node-b <x> ");
  const std::vector<std::string> ours = Traceback("node-a <x> ");
  std::string log;
  for (size_t i = 0; i < ours.size(); ++i) log += ours[i] + "\n" + others[i] + "\n";
  const Evidence evidence = ReadLogs({{"log", log}});
  ASSERT_EQ(evidence.ranks.size(), 2U);
  EXPECT_EQ(evidence.ranks[0].name, "node-a x");
  EXPECT_EQ(evidence.ranks[1].lines.size(), 4U);
}

TEST(ForeignPrefix, OfADeviceIsALocalRanks) {
  const auto named = [](const std::string& prefix) {
    const std::vector<std::string> lines = Traceback(prefix);
    const Evidence evidence = ReadLogs(
        {{"log", lines[0] + "\n" + lines[1] + "\n" + lines[2] + "\n" + lines[3] +
                     "\n2025-03-11 10:07:32 x NCCL communicator was aborted on rank 1.\n"}});
    const Verdict verdict = Explain(evidence);
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  for (const char* const prefix :
       {"2025-03-11 10:07:31 gpu 3 ERROR: ", "10:07:31 [GPU: 3] ", "cuda:3 | ", "<gpu=3> "}) {
    EXPECT_EQ(named(prefix), 3) << prefix;
  }
  for (const char* const prefix : {"gpu-3 x: ", "gpu 311 x: ", "my_gpu_b 3 x: ", "vgpu 3 x: "}) {
    EXPECT_NE(named(prefix), 3) << prefix;
  }
}

TEST(ForeignPrefix, ANumberInItThatLinesRepeatIsTheRank) {
  const auto rank_in = [](const std::string& form, const std::vector<int>& ready, int raises) {
    const auto prefix = [&form](int number) {
      std::string text = form;
      return text.replace(text.find('%'), 1, std::to_string(number));
    };
    std::string log;
    for (const int number : ready) log += prefix(number) + "ready\n";
    for (const std::string& line : Traceback(prefix(raises))) log += line + "\n";
    const Evidence evidence = ReadLogs({{"train.log", log}});
    const Verdict verdict = Explain(evidence);
    return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
  };
  for (const char* const form :
       {"[%] ", "<%> ", "%> ", "R%: ", "[R%] ", "r%| ", "[%/4] ", "gpu %: ", "[cuda:%] ",
        "[proc%] ", "rank%: ", "local_rank=% | ", "2026-05-06 01:10:05 gpu % ERROR: "}) {
    EXPECT_EQ(rank_in(form, {0, 1, 2, 0}, 2), 2) << form;
  }
  EXPECT_EQ(rank_in("[%] ", {71, 72, 71}, 72), std::nullopt) << "PIDs";
  EXPECT_EQ(rank_in("[%] ", {0, 0, 12}, 13), std::nullopt) << "seconds";
  EXPECT_EQ(rank_in("[attempt %] ", {0, 0, 1}, 1), std::nullopt);
  EXPECT_EQ(rank_in("[%/5] ", {0, 0, 1, 1}, 2), std::nullopt) << "experiments";
  EXPECT_EQ(rank_in("[%] ", {0, 0, 0, 0}, 3), 3) << "a rank that has said nothing before";
  EXPECT_EQ(rank_in("[P=%] ", {71, 72, 71}, 72), std::nullopt) << "PIDs";
  for (const char* const other :
       {"[node rank %] ", "[node_rank=%] ", "tp rank %: ", "[PP-rank %] "}) {
    EXPECT_EQ(rank_in(other, {0, 1, 2, 0}, 2), std::nullopt) << other;
  }
  EXPECT_EQ(rank_in("[node rank 0 rank %] ", {0, 1, 2, 0}, 2), 2);
}

TEST(ForeignPrefix, WordsBeforeATracebackThatDoNotComeAgainAreNone) {
  const std::vector<std::string> lines = {
      "ERROR:root:Traceback (most recent call last):", "  File \"/w/train.py\", line 3, in main",
      "KeyError: 'lr'"};
  const auto found = FindForeignPrefixes({lines[0], lines[1], lines[2]});
  EXPECT_EQ(found[0].size, 0U);
  EXPECT_EQ(JudgeLines(lines).line, "KeyError: 'lr'");
  EXPECT_EQ(JudgeLines(lines).file_line, 3);
}

}  // namespace
}  // namespace answers
