#include "launch/machine/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace launch {
namespace {

std::string StatusOf(const std::string& state, const std::string& blocked,
                     const std::string& ignored, const std::string& caught) {
  return "Name:\tpython3\nState:\t" + state + "\nShdPnd:\t0000000000004000\nSigBlk:\t" + blocked +
         "\nSigIgn:\t" + ignored + "\nSigCgt:\t" + caught + "\n";
}

// SIGTERM is bit 14.
TEST(WouldEnd, ReadsWhatTheKernelSaysOfASignal) {
  const std::string none = "0000000000000000";
  const std::string term = "0000000000004000";
  const std::string others = "fffffffe7ffbbeff";  // all but SIGTERM and the two nobody can catch
  EXPECT_EQ(WouldEnd(StatusOf("S (sleeping)", none, none, others), SIGTERM), EndedBySignal::kYes);
  EXPECT_EQ(WouldEnd(StatusOf("S (sleeping)", term, none, none), SIGTERM), EndedBySignal::kNo);
  EXPECT_EQ(WouldEnd(StatusOf("R (running)", none, term, none), SIGTERM), EndedBySignal::kNo);
  EXPECT_EQ(WouldEnd(StatusOf("D (disk sleep)", none, none, term), SIGTERM), EndedBySignal::kNo);
  EXPECT_EQ(WouldEnd(StatusOf("R (running)", none, none, term), SIGINT), EndedBySignal::kYes);
  EXPECT_EQ(WouldEnd(StatusOf("Z (zombie)", none, none, term), SIGTERM), EndedBySignal::kHasEnded);
}

TEST(WouldEnd, KnowsAChildThatHasEndedAndOneThatIsGone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(WouldEnd(child, SIGTERM), EndedBySignal::kHasEnded);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(WouldEnd(child, SIGTERM), EndedBySignal::kHasEnded);
}

}  // namespace
}  // namespace launch
