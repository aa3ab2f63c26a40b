#include "process/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace process {
namespace {

// A process that is in a group, or a session, of its own and stops itself.
pid_t StartOneThatStops(bool has_own_session) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (has_own_session ? ::setsid() < 0 : ::setpgid(0, 0) < 0) ::_exit(1);
  const auto signals = OpenSignalFd({SIGTSTP});
  if (!signals) ::_exit(2);
  StopUntilContinued();
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  ::_exit(::sigismember(&blocked, SIGTSTP) == 1 ? 7 : 3);
}

int StatusOf(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
  return status;
}

TEST(StopUntilContinued, StopsAProcessThatAShellWouldContinue) {
  const pid_t pid = StartOneThatStops(false);
  ASSERT_GT(pid, 0);
  int status = StatusOf(pid);
  EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP) << status;
  if (!WIFSTOPPED(status)) return;
  ::kill(pid, SIGCONT);
  status = StatusOf(pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST(StopUntilContinued, DoesNotStopAnOrphanedGroup) {
  const pid_t pid = StartOneThatStops(true);
  ASSERT_GT(pid, 0);
  const int status = StatusOf(pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  if (!WIFSTOPPED(status)) return;
  ::kill(pid, SIGKILL);
  StatusOf(pid);
}

}  // namespace
}  // namespace process
