#include "local/daemon/connect.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/defer.h"
#include "base/fd.h"
#include "base/file.h"

namespace local::daemon {
namespace {

// A process that listens at `path`; with `ignores` it does not end when it is asked to.
pid_t StartListener(const std::string& path, bool ignores) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  base::Fd ready(ends[0]);
  base::Fd says_ready(ends[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGTERM, ignores ? SIG_IGN : SIG_DFL);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) _exit(1);
    if (listen(fd, 5) != 0 || write(ends[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  says_ready.Reset();
  char byte = 0;
  EXPECT_EQ(read(ready.get(), &byte, 1), 1);
  return pid;
}

int SignalThatEnded(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(StopDaemon, AsksAndThenKills) {
  char directory[] = "/tmp/muster-stop-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const base::Defer remove([&] { (void)base::RemoveTree(directory); });
  Paths paths;
  paths.socket = std::string(directory) + "/socket";
  EXPECT_TRUE(StopDaemon(paths)) << "there is none";

  const pid_t willing = StartListener(paths.socket, false);
  EXPECT_TRUE(StopDaemon(paths));
  EXPECT_EQ(SignalThatEnded(willing), SIGTERM);
  ASSERT_EQ(unlink(paths.socket.c_str()), 0);

  const pid_t stubborn = StartListener(paths.socket, true);
  const base::Status stopped = StopDaemon(paths, std::chrono::milliseconds(20));
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(SignalThatEnded(stubborn), SIGKILL);
}

}  // namespace
}  // namespace local::daemon
