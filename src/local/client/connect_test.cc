#include "local/client/connect.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "base/fd.h"
#include "base/file.h"
#include "process/file_lock.h"

namespace local::daemon {
namespace {

// A process that holds the daemon's lock; with `ignores`, it ignores requests to end.
pid_t StartHolder(const Paths& paths, bool ignores) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  base::Fd ready(ends[0]);
  base::Fd says_ready(ends[1]);
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGTERM, ignores ? SIG_IGN : SIG_DFL);
    const auto lock = process::TryLockFile(paths.lock);
    const auto record = OwnRecord({}, paths.socket);
    if (!lock || !*lock || !record || !WriteRecord((*lock)->get(), *record)) _exit(1);
    if (write(ends[1], "x", 1) != 1) _exit(1);
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

class ConnectTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-connect-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    paths_ = PathsOf(base::Environment(Values{{"XDG_STATE_HOME", folder_}}));
  }
  void TearDown() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  using Values = std::map<std::string, std::string>;
  std::string folder_;
  Paths paths_;
};

TEST_F(ConnectTest, StoppingAsksAndThenKills) {
  EXPECT_TRUE(StopDaemon(paths_)) << "there is none";
  ASSERT_TRUE(MakePrivateDirs(paths_));
  const pid_t willing = StartHolder(paths_, false);
  EXPECT_TRUE(StopDaemon(paths_));
  EXPECT_EQ(SignalThatEnded(willing), SIGTERM);

  const pid_t stubborn = StartHolder(paths_, true);
  const base::Status stopped = StopDaemon(paths_, std::chrono::milliseconds(20));
  EXPECT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(SignalThatEnded(stubborn), SIGKILL);
}

TEST_F(ConnectTest, WhatOthersCouldHaveWrittenIsNotBelieved) {
  ASSERT_TRUE(MakePrivateDirs(paths_));
  const pid_t holder = StartHolder(paths_, false);
  ASSERT_TRUE(*RunningDaemon(paths_));
  ASSERT_EQ(chmod(paths_.state.c_str(), 0777), 0);
  EXPECT_EQ(RunningDaemon(paths_).error().code, base::Code::kPermissionDenied);
  EXPECT_EQ(StopDaemon(paths_).error().code, base::Code::kPermissionDenied);
  ASSERT_EQ(chmod(paths_.state.c_str(), 0700), 0);
  EXPECT_TRUE(StopDaemon(paths_));
  SignalThatEnded(holder);
}

// As what a daemon was about to execute when it was killed.
TEST_F(ConnectTest, ASocketThatOutlivesItsDaemonIsNotOne) {
  ASSERT_TRUE(MakePrivateDirs(paths_));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  base::Fd ready(ends[0]), lives(ends[1]);
  const pid_t daemon = fork();
  if (daemon == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    paths_.socket.copy(address.sun_path, sizeof address.sun_path - 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    auto lock = process::TryLockFile(paths_.lock);
    const auto record = OwnRecord({}, paths_.socket);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 8) != 0 || !lock || !*lock || !record ||
        !WriteRecord((*lock)->get(), *record)) {
      _exit(1);
    }
    const pid_t heir = fork();
    if (heir != 0) _exit(write(ends[1], &heir, sizeof heir) == sizeof heir ? 0 : 1);
    (*lock)->Reset();
    while (true) pause();
  }
  pid_t heir = 0;
  ASSERT_EQ(read(ready.get(), &heir, sizeof heir), ssize_t{sizeof heir});
  EXPECT_EQ(SignalThatEnded(daemon), 0);
  const base::Environment environment(Values{{"XDG_STATE_HOME", folder_}});
  EXPECT_FALSE(EnsureDaemon({environment, "/bin/false", {}}));
  kill(heir, SIGKILL);
}

TEST_F(ConnectTest, AFollowerDoesNotUndoADown) {
  ASSERT_TRUE(MakePrivateDirs(paths_));
  const pid_t holder = StartHolder(paths_, false);
  ASSERT_TRUE(StopDaemon(paths_));
  SignalThatEnded(holder);
  const base::Environment environment(Values{{"XDG_STATE_HOME", folder_}});
  const auto revived = ReviveDaemon({environment, "/bin/false", {}});
  EXPECT_EQ(revived.error().code, base::Code::kUnavailable);
  EXPECT_NE(revived.error().message.find("was put down"), std::string::npos);
}

}  // namespace
}  // namespace local::daemon
