#include "answers/log/sweep_log.h"

#include <gtest/gtest.h>

#include "answers/files/read_log.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::string TextOf(const std::vector<LogLine>& lines) {
  std::string text;
  for (const LogLine& line : lines) text += std::string(line.text) + "\n";
  return text;
}

std::vector<LogLine> LinesOf(std::string_view text) {
  std::vector<LogLine> lines;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back().text = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  return lines;
}

TEST(SweepLog, KeepsTheLinesOfTheFirstTrialThatFailedAndTheWitnesses) {
  std::vector<LogLine> lines = LinesOf(
      "[lr=1] loss 1\n[lr=2] Traceback (most recent call last):\n[lr=3] ValueError: three\n"
      "[lr=2] ValueError: two\n3 of 3 trials ended, 2 of them failed\n"
      "  lr=2 exited with code 1: ValueError: two\n  lr=3 exited with code 1: ValueError: three\n"
      "muster: witness: file system: /data is full: 0 KiB free of 64 MiB\n");
  EXPECT_EQ(KeepFailedTrial(lines).value().words, "lr=2 exited with code 1: ValueError: two");
  EXPECT_EQ(TextOf(lines),
            "Traceback (most recent call last):\nValueError: two\n"
            "muster: witness: file system: /data is full: 0 KiB free of 64 MiB\n");
}

TEST(SweepLog, IsReadBeforeItsLabelsAreTakenForThoseOfALogger) {
  const Evidence evidence = ReadLogs(
      {{"log",
        "[lr=2] Traceback (most recent call last):\n[lr=2]   File \"/w/t.py\", line 4, in "
        "<module>\n"
        "[lr=2]     raise ValueError('two')\n[lr=2] ValueError: two\n[lr=1] loss 1\n"
        "2 of 2 trials ended, 1 of them failed\n  lr=2 exited with code 1: ValueError: two\n"}});
  ASSERT_EQ(evidence.ranks.size(), 1u);
  ASSERT_EQ(evidence.ranks[0].witnesses.size(), 1u);
  EXPECT_EQ(evidence.ranks[0].witnesses[0].text, "lr=2 exited with code 1: ValueError: two");
  EXPECT_EQ(evidence.ranks[0].lines.back().text, "ValueError: two");
}

TEST(SweepLog, KeepsNoLineOfOthersWhereTheTrialHasSaidNothing) {
  std::vector<LogLine> lines =
      LinesOf("[lr=1] loss 1\n2 of 2 trials ended, 1 of them failed\n  lr=2 exited with code 1\n");
  EXPECT_EQ(KeepFailedTrial(lines).value().words, "lr=2 exited with code 1");
  EXPECT_EQ(TextOf(lines), "");
}

TEST(SweepLog, OfATrialThatHasSaidNothingItsExitCodeIsKnown) {
  const Evidence evidence = ReadLogs(
      {{"log",
        "[lr=1] loss 1\n2 of 2 trials ended, 1 of them failed\n  lr=2 exited with code 3\n"}});
  ASSERT_EQ(evidence.ranks.size(), 1u);
  EXPECT_EQ(evidence.ranks[0].exit_code, 3);
  EXPECT_EQ(Explain(evidence).title, "it ended itself, and printed nothing");
}

TEST(SweepLog, KeepsTheRepeatedLastLineOfATrialWhoseOwnAreTooFarBack) {
  std::vector<LogLine> lines = LinesOf(
      "[lr=1] loss 1\n2 of 2 trials ended, 1 of them failed\n"
      "  lr=2 exited with code 1: ValueError: two\n");
  EXPECT_EQ(KeepFailedTrial(lines).value().words, "lr=2 exited with code 1: ValueError: two");
  EXPECT_EQ(TextOf(lines), "ValueError: two\n");
}

TEST(SweepLog, KeepsTheTrialThatIsAskedFor) {
  std::vector<LogLine> lines = LinesOf(
      "[lr=1] loss 1\n[lr=10] loss 10\n[lr=1] loss 0\n"
      "muster: witness: file system: /data is full: 0 KiB free of 64 MiB\n");
  KeepTrial(lines, "lr=1");
  EXPECT_EQ(TextOf(lines),
            "loss 1\nloss 0\nmuster: witness: file system: /data is full: 0 KiB free of 64 MiB\n");
}

TEST(SweepLog, LeavesWhatIsNoSweep) {
  for (const char* const text :
       {"loss 1\nValueError: x\n", "[lr=1] loss 1\n1 of 1 trial ended, 0 of them failed\n"}) {
    std::vector<LogLine> lines = LinesOf(text);
    const std::string before = TextOf(lines);
    EXPECT_FALSE(KeepFailedTrial(lines)) << text;
    EXPECT_EQ(TextOf(lines), before);
  }
}

}  // namespace
}  // namespace answers
