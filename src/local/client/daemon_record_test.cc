#include "local/client/daemon_record.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "process/file_lock.h"

namespace local::daemon {
namespace {

class DaemonRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-record-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/daemon.lock";
  }
  void TearDown() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  std::string folder_, path_;
};

TEST_F(DaemonRecordTest, IsReadAsItWasWrittenAlsoAfterALongerOne) {
  EXPECT_FALSE(*ReadRecord(path_)) << "there is no file";
  auto lock = process::TryLockFile(path_);
  ASSERT_TRUE(lock && *lock);
  EXPECT_FALSE(*ReadRecord(path_)) << "as musters of before left it";
  auto record = OwnRecord({"0.1.0", "abc", "2026-01-01T00:00:00Z"}, std::string(150, 'x'));
  ASSERT_TRUE(record);
  ASSERT_TRUE(WriteRecord((*lock)->get(), *record));
  record->socket = "/run/s";
  ASSERT_TRUE(WriteRecord((*lock)->get(), *record));
  const auto read = ReadRecord(path_);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->pid, getpid());
  EXPECT_EQ((*read)->socket, "/run/s");
  EXPECT_EQ((*read)->build, record->build);
  EXPECT_TRUE(IsAlive(**read));
}

TEST_F(DaemonRecordTest, AProcessThatTookThePidIsAnother) {
  auto record = OwnRecord({}, "");
  ASSERT_TRUE(record);
  record->started += "0";
  EXPECT_FALSE(IsAlive(*record));
}

TEST_F(DaemonRecordTest, OneThatHasEndedIsNotAliveBeforeItIsReaped) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(IsAlive({pid, "", {}, ""}));
  waitpid(pid, nullptr, 0);
}

TEST_F(DaemonRecordTest, TheKernelKnowsWhoHoldsTheLock) {
  EXPECT_EQ(LockHolder(path_), std::nullopt);
  auto lock = process::TryLockFile(path_);
  ASSERT_TRUE(lock && *lock);
  EXPECT_EQ(LockHolder(path_), getpid());
  lock->reset();
  EXPECT_EQ(LockHolder(path_), std::nullopt);
}

}  // namespace
}  // namespace local::daemon
