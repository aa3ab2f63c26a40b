#include "arena/logs/launcher_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"

namespace arena {
namespace {

constexpr const char* kTable =
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============================================================\n"
    "bad.py FAILED\n"
    "------------------------------------------------------------\n"
    "Failures:\n"
    "  <NO_OTHER_FAILURES>\n"
    "------------------------------------------------------------\n"
    "Root Cause (first observed failure):\n"
    "[0]:\n"
    "  exitcode  : 1 (pid: 27661) \n"
    "============================================================\n";
constexpr const char* kExplanation =
    "bad.py: rank 1 of 2 failed first (local rank 1, pid 27661, host n1)\n"
    "  why       : ValueError: boom\n"
    "  evidence  : Traceback (most recent call last):\n"
    "            : ValueError: boom\n"
    "  what to do: fix what the last line says\n"
    "  report    : /tmp/failure.json\n";

std::string LeftOf(const std::string& log) {
  LauncherReport report;
  std::string left;
  for (const std::string& line : base::Split(log, '\n')) {
    if (!report.Contains(line)) left += line + "\n";
  }
  return left;
}

TEST(LauncherReport, HasTheTableAndTheExplanationAndNothingElse) {
  const std::string before = "muster-launch: restart 1 of 1\n";
  const std::string after = "  saving what is left\nbye\n";
  EXPECT_EQ(LeftOf(before + kTable + kExplanation + after), before + after + "\n");
  EXPECT_EQ(LeftOf(std::string(kTable) + "bye"), "bye\n");
  EXPECT_EQ(LeftOf(kExplanation), "\n");
}

TEST(LauncherReport, OrdinaryLinesAreOfNone) {
  const std::string log = "==========\nepoch     : 3\n  loss      : 0.5\nrank 1 failed first\n";
  EXPECT_EQ(LeftOf(log), log + "\n");
}

}  // namespace
}  // namespace arena
