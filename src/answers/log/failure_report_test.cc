#include "answers/log/failure_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

// As src/launch/failure/explain.cc writes it: rank 3 failed, and rank 0 was ended because of it.
std::string ReportOf(int exit_code, std::string_view kind, std::string_view message,
                     std::string_view traceback = "", std::string_view lines = "") {
  return fmt::format(
      R"({{"program":"t.py","world_size":4,"restarts_used":0,"max_restarts":0,"root_cause":{{
"rank":3,"local_rank":1,"host":"n7","pid":8825,"exit_code":{0},"signal":null,
"time":"2026-11-28T02:53:37.274231Z","stopped_by_launcher":false,"class":"{1}","message":"{2}",
"advice":"a","crash":null,"traceback":"{3}","last_stderr_lines":[{4}]}},"failures":[
{{"rank":3,"local_rank":1,"host":"n7","pid":8825,"exit_code":{0},"stopped_by_launcher":false}},
{{"rank":0,"local_rank":0,"host":"n6","pid":8822,"exit_code":-9,"stopped_by_launcher":true}}]}})",
      exit_code, kind, message, traceback, lines);
}

struct JudgedReport {
  std::string kind, line;
  std::optional<int> rank;
};

JudgedReport JudgeReport(const std::vector<LogFile>& files) {
  const Evidence evidence = ReadLogs(files);
  const Verdict verdict = Explain(evidence);
  return {std::string(verdict.kind), verdict.line,
          verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt};
}

TEST(FailureReport, HasTheRankThatFailedFirst) {
  const auto report = ReadFailureReport(ReportOf(-11, "signal", "ended by signal 11 (SIGSEGV)"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rank, 3);
  EXPECT_EQ(report->ended_ranks, std::vector<int>{0});
  ASSERT_EQ(report->rows.size(), 2U);
  EXPECT_EQ(report->rows[0].exit_code, 137);
  EXPECT_EQ(report->rows[1].exit_code, 139);
  EXPECT_EQ(report->rows[1].ended, Ended::kFirst);
  EXPECT_EQ(report->why, "");
  for (const char* const other :
       {"", "{", "[]", R"({"root_cause": {"rank": 3}})", R"({"root_cause": {}, "failures": []})",
        R"({"root_cause": {"rank": -3}, "failures": []})"}) {
    EXPECT_FALSE(ReadFailureReport(other)) << other;
  }
  EXPECT_TRUE(IsFailureReport("run/failure.json"));
  EXPECT_FALSE(IsFailureReport("run/a-failure.json"));
}

TEST(FailureReport, OfARankThatASignalEnded) {
  const std::string report = ReportOf(-11, "signal", "ended by signal 11 (SIGSEGV)");
  const JudgedReport alone = JudgeReport({{"failure.json", report}});
  EXPECT_EQ(alone.kind, "native-crash");
  EXPECT_EQ(alone.rank, 3);
  const JudgedReport judged =
      JudgeReport({{"r/attempt_0/0/stderr.log",
                    "Traceback (most recent call last):\n  File \"/w/t.py\", line 3, "
                    "in <module>\n"},
                   {"r/attempt_0/3/stderr.log", ""},
                   {"r/attempt_0/3/stdout.log", ""},
                   {"r/failure.json", report}});
  EXPECT_EQ(judged.kind, "native-crash");
  EXPECT_EQ(judged.rank, 3);
  std::string with_place = report;
  constexpr std::string_view kNone = "\"crash\":null";
  with_place.replace(with_place.find(kNone), kNone.size(),
                     R"("crash":"Segmentation fault at File \"/w/t.py\", line 19 in f")");
  EXPECT_EQ(Explain(ReadLogs({{"r/attempt_0/3/stderr.log", ""},
                              {"r/attempt_0/3/stdout.log", ""},
                              {"r/failure.json", with_place}}))
                .file_line,
            19);
}

TEST(FailureReport, SaysWhatTheRanksLogLacks) {
  const std::string traceback =
      R"(Traceback (most recent call last):\n  File \"/w/t.py\", line 3, in f\nKeyError: 'lr'\n)";
  const std::string raised = ReportOf(1, "exception", "KeyError: 'lr'", traceback);
  EXPECT_EQ(JudgeReport({{"failure.json", raised}}).line, "KeyError: 'lr'");
  EXPECT_EQ(JudgeReport({{"failure.json", raised}}).rank, 3);
  const std::string own =
      "Traceback (most recent call last):\n  File \"/w/t.py\", line 9, in g\nValueError: own\n";
  EXPECT_EQ(JudgeReport({{"r/attempt_0/3/stderr.log", own}, {"r/failure.json", raised}}).line,
            "ValueError: own")
      << "the log is more";
  const std::string ended =
      ReportOf(5, "exit-code", "exit code 5, its last line: no labels", "", "\"no labels\"");
  EXPECT_EQ(JudgeReport({{"failure.json", ended}}).line, "no labels");
  EXPECT_EQ(JudgeReport({{"failure.json", ended}}).rank, 3);
  const std::string killed =
      ReportOf(-9, "out-of-memory", "killed by the kernel for want of memory (SIGKILL)");
  EXPECT_EQ(JudgeReport({{"failure.json", killed}}).kind, "host-out-of-memory");
  EXPECT_EQ(JudgeReport({{"failure.json", killed}}).rank, 3);
  const std::string stalled =
      ReportOf(-9, "stalled",
               "stalled 4 s: rank 0 has not entered all_reduce #412 (train.py:88); it is at x");
  EXPECT_EQ(JudgeReport({{"failure.json", stalled}}).kind, "hang");
  EXPECT_EQ(JudgeReport({{"failure.json", stalled}}).rank, 0) << "whom the others waited for";
}

TEST(FailureReport, AnEarlierAttemptIsNoEvidence) {
  const std::string boom =
      "Traceback (most recent call last):\n  File \"/w/t.py\", line 9, in g\nValueError: own\n";
  const std::string give_up = "giving up: validation set is empty\n";
  const std::vector<LogFile> files = {{"r/attempt_0/2/stderr.log", boom},
                                      {"r/attempt_1/0/stdout.log", "step 1 loss 2.1\n"},
                                      {"r/attempt_1/0/stderr.log", ""},
                                      {"r/attempt_1/1/stderr.log", give_up},
                                      {"r/attempt_1/2/stderr.log", ""}};
  const JudgedReport judged = JudgeReport(files);
  EXPECT_EQ(judged.kind, "unknown");
  EXPECT_EQ(judged.line, "giving up: validation set is empty");
  EXPECT_EQ(judged.rank, 1);
  EXPECT_EQ(JudgeReport({files[0], {"other/attempt_1/0/stderr.log", ""}}).line, "ValueError: own")
      << "of another run";
}

TEST(FailureReport, WhoWroteToStderrAloneMayHaveEndedIt) {
  const auto rank_with = [](const std::string& zero, const std::string& one,
                            const std::string& two) {
    return JudgeReport({{"r/attempt_0/0/stderr.log", zero},
                        {"r/attempt_0/1/stderr.log", one},
                        {"r/attempt_0/2/stderr.log", two}})
        .rank;
  };
  const std::string words = "the validation set is empty\n";
  EXPECT_EQ(rank_with("", words, ""), 1);
  EXPECT_EQ(rank_with("", words, words), std::nullopt);
  EXPECT_EQ(rank_with(words, "", ""), std::nullopt) << "rank 0 often writes alone";
  EXPECT_EQ(rank_with("", "/w/a.py:3: UserWarning: old\n", ""), std::nullopt);
  EXPECT_EQ(rank_with("", "step 3 loss 0.5\n", ""), std::nullopt);
}

}  // namespace
}  // namespace answers
