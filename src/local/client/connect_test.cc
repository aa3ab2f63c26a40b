#include "local/client/connect.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
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
