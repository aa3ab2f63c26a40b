#include "answers/log/error_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"
#include "text/json.h"

namespace answers {
namespace {

std::string StackOf(std::string_view exception) {
  return fmt::format(
      "Traceback (most recent call last):\n"
      "  File \"/usr/lib/python3/dist-packages/torch/distributed/elastic/multiprocessing/errors/"
      "__init__.py\", line 346, in wrapper\n    return f(*args, **kwargs)\n"
      "  File \"/w/train.py\", line 88, in main\n    step()\n{}\n",
      exception);
}

// The content is written as by torch's @record.
std::string Recorded(std::string_view exception, int64_t seconds) {
  return fmt::format(
      R"({{"message": {{"message": {}, "extraInfo": {{"py_callstack": {}, "timestamp": "{}"}}}}}})",
      text::QuoteJson(exception), text::QuoteJson(StackOf(exception)), seconds);
}

TEST(ErrorFile, IsTheOneThatALauncherNames) {
  const char* path = "/tmp/torchelastic_x/none_abc/attempt_0/1/error.json";
  EXPECT_TRUE(IsSameErrorFile(path, "none_abc/attempt_0/1/error.json"));
  EXPECT_TRUE(IsSameErrorFile(path, "attempt_0/1/error.json"));
  EXPECT_TRUE(IsSameErrorFile(path, "copied/none_abc/attempt_0/1/error.json"));
  EXPECT_FALSE(IsSameErrorFile(path, "none_abc/attempt_0/2/error.json"));
  EXPECT_FALSE(IsSameErrorFile(path, "none_def/attempt_0/1/error.json"));
  EXPECT_FALSE(IsSameErrorFile(path, "error.json"));
  EXPECT_FALSE(IsSameErrorFile("", "attempt_0/1/error.json"));
}

TEST(ErrorFile, TheEarlierExceptionWinsWhateverTheWordsAre) {
  const std::string later = Recorded("torch.cuda.OutOfMemoryError: CUDA out of memory.", 1012);
  const std::string earlier = Recorded("ValueError: boom", 1010);
  const Evidence evidence =
      ReadLogs({{"r/attempt_0/0/error.json", later}, {"r/attempt_0/1/error.json", earlier}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 1);
  EXPECT_EQ(verdict.line, "ValueError: boom");
  EXPECT_EQ(verdict.file, "/w/train.py");
  EXPECT_EQ(verdict.file_line, 88);
  EXPECT_EQ(evidence.ranks[*verdict.rank].ended, base::Time(std::chrono::seconds(1010)));
  ASSERT_EQ(verdict.consequences.size(), 1u);
}

TEST(ErrorFile, AConsequenceIsNoneHoweverEarlyItWasRecorded) {
  const std::string peer =
      Recorded("RuntimeError: [pair.cc:534] Connection closed by peer [10.0.0.1]:5", 1009);
  const std::string own = Recorded("ValueError: boom", 1010);
  const Evidence evidence =
      ReadLogs({{"attempt_0/0/error.json", peer}, {"attempt_0/1/error.json", own}});
  EXPECT_EQ(Explain(evidence).line, "ValueError: boom");
}

TEST(ErrorFile, GivesTheTimeOfWhatTheLogSays) {
  const std::string late = StackOf("KeyError: 'a'"), soon = StackOf("KeyError: 'b'");
  const std::string late_file = Recorded("KeyError: 'a'", 1012);
  const std::string soon_file = Recorded("KeyError: 'b'", 1010);
  const Evidence evidence = ReadLogs({{"attempt_0/0/error.json", late_file},
                                      {"attempt_0/0/stderr.log", late},
                                      {"attempt_0/1/error.json", soon_file},
                                      {"attempt_0/1/stderr.log", soon}});
  ASSERT_EQ(evidence.ranks.size(), 2u);
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.line, "KeyError: 'b'");
  EXPECT_EQ(NameOf(evidence.ranks[*verdict.rank]), "rank 1 (1/stderr.log)");
  EXPECT_EQ(verdict.consequences.size(), 1u);
}

TEST(ErrorFile, IsOfTheRankWhoseTableNamesIt) {
  const std::string table =
      "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-01_10:00:00\n"
      "  host      : n7\n  rank      : 9 (local_rank: 1)\n  exitcode  : 1 (pid: 4711)\n"
      "  error_file: /tmp/torchelastic_x/none_abc/attempt_0/1/error.json\n";
  const std::string file = Recorded("ValueError: boom", 1010);
  const Evidence evidence = ReadLogs({{"none_abc/attempt_0/1/error.json", file}, {"out", table}});
  const Verdict verdict = Explain(evidence);
  ASSERT_TRUE(verdict.rank);
  EXPECT_EQ(evidence.ranks[*verdict.rank].rank, 9);
  EXPECT_EQ(evidence.ranks[*verdict.rank].host, "n7");
  EXPECT_EQ(evidence.ranks[*verdict.rank].exit_code, 1);
}

TEST(ErrorFile, OfTwoNodesIsNotJoinedByItsNumber) {
  const std::string here = Recorded("ValueError: here", 1010);
  const std::string there = Recorded("ValueError: there", 1011);
  const std::string log = "[rank0]: " + std::string("ValueError: there\n");
  const Evidence evidence = ReadLogs(
      {{"a_1/attempt_0/0/error.json", here}, {"b_2/attempt_0/0/error.json", there}, {"out", log}});
  EXPECT_EQ(evidence.ranks.size(), 3u);
  EXPECT_EQ(Explain(evidence).line, "ValueError: here");
}

TEST(ErrorFile, ThatIsCutIsMissing) {
  const Evidence evidence = ReadLogs({{"attempt_0/1/error.json", R"({"message": {"mess)"}});
  const Verdict verdict = Explain(evidence);
  EXPECT_EQ(verdict.kind, kUnknown);
  EXPECT_EQ(verdict.missing, std::vector<std::string>{"the log of rank 1 (1/error.json)"});
}

TEST(ErrorFile, HasThreeForms) {
  const auto full = ParseErrorFile(
      R"({"message": {"message": "ValueError: boom", "extraInfo": {"py_callstack": "Traceback ...",
          "timestamp": "1795223550"}}})");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->message, "ValueError: boom");
  EXPECT_EQ(full->call_stack, "Traceback ...");
  EXPECT_EQ(full->timestamp, 1795223550);
  const auto number = ParseErrorFile(R"({"message": "text", "timestamp": 10})");
  EXPECT_EQ(number->message, "text");
  EXPECT_EQ(number->timestamp, 10);
  EXPECT_EQ(ParseErrorFile(R"({"message": "text", "timestamp": "10"})")->timestamp, 10);
  for (const char* never : {"99999999999999", "9223372036854775807", "-5", "\"abc\""}) {
    const auto report =
        ParseErrorFile(R"({"message": "text", "timestamp": )" + std::string(never) + "}");
    ASSERT_TRUE(report) << never;
    EXPECT_EQ(report->timestamp, std::nullopt) << never;
  }
  for (const char* bad : {"", "{", R"({"other": 1})", "[]", "null", R"({"message": "a"} x)"}) {
    EXPECT_FALSE(ParseErrorFile(bad)) << bad;
  }
}

}  // namespace
}  // namespace answers
