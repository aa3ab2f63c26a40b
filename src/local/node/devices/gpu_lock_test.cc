#include "local/node/devices/gpu_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "base/file.h"

namespace local::node {
namespace {

constexpr uid_t kStranger = 65534;

class GpuLockTest : public testing::Test {
 protected:
  GpuLockTest() : folder_("/tmp/muster-gpu-lock-XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    EXPECT_EQ(::chmod(folder_.c_str(), 01777), 0);
  }
  ~GpuLockTest() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  // As another user, in a process of its own; `act` says whether it went as it should.
  static bool AsStranger(const std::function<bool()>& act) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::setresuid(kStranger, kStranger, kStranger) == 0 && act() ? 0 : 1);
    int status = 1;
    ::waitpid(child, &status, 0);
    return status == 0;
  }
  std::optional<uid_t> Holder(const std::string& unit) const {
    const auto holders = GpuHolders(folder_);
    const auto found = holders.find(unit);
    return found == holders.end() ? std::nullopt : std::optional(found->second);
  }
  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  std::string OnlyFile() const {
    return std::filesystem::directory_iterator(folder_)->path().string();
  }

  std::string folder_;
};

TEST_F(GpuLockTest, IsHeldAsLongAsADescriptorIs) {
  auto lock = LockGpu(folder_, "GPU-1", "pod a");
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(Holder("GPU-1"), ::geteuid());
  EXPECT_EQ(Holder("GPU-2"), std::nullopt);
  const auto again = LockGpu(folder_, "GPU-1", "pod b");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, base::Code::kUnavailable);
  EXPECT_EQ(again.error().message, "held by " + DescribeHolder(::geteuid()));
  EXPECT_EQ(*base::ReadFile(OnlyFile()), "pod a\n");
  base::Fd shims(::fcntl(lock->get(), F_DUPFD_CLOEXEC, 0));
  lock->Reset();
  EXPECT_EQ(Holder("GPU-1"), ::geteuid());
  shims.Reset();
  EXPECT_EQ(Holder("GPU-1"), std::nullopt);
  EXPECT_TRUE(LockGpu(folder_, "GPU-1", "pod b"));
  EXPECT_LE(Files(), 1u) << "what nobody holds is cleared away";
}

TEST_F(GpuLockTest, AnotherUserSeesWhoseItIsAndCannotTakeOrFreeIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto lock = LockGpu(folder_, "GPU-1", "pod a");
  ASSERT_TRUE(lock);
  const std::string path = OnlyFile();
  EXPECT_TRUE(AsStranger([&] { return Holder("GPU-1") == uid_t{0}; }));
  EXPECT_TRUE(AsStranger([&] {
    const auto taken = LockGpu(folder_, "GPU-1", "pod b");
    return !taken && taken.error().message == "held by root (another muster on this machine)";
  }));
  EXPECT_TRUE(AsStranger([&] {
    return ::unlink(path.c_str()) != 0 && ::rename(path.c_str(), (path + "x").c_str()) != 0 &&
           ::open(path.c_str(), O_RDWR) < 0;
  }));
  EXPECT_EQ(Holder("GPU-1"), uid_t{0});
}

TEST_F(GpuLockTest, AnotherUsersLocksOnOurFilesAndFilesOfOurNamesCountForNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  auto lock = LockGpu(folder_, "GPU-1", "pod a");
  ASSERT_TRUE(lock);
  // The stranger holds all that it can get of a lock that its owner has left.
  const base::Fd reader(::open(OnlyFile().c_str(), O_RDONLY | O_CLOEXEC));
  struct flock shared{};
  shared.l_type = F_RDLCK;
  ASSERT_EQ(::flock(reader.get(), LOCK_SH), 0);
  lock->Reset();
  ASSERT_EQ(::fcntl(reader.get(), F_OFD_SETLK, &shared), 0);
  ASSERT_TRUE(AsStranger([&] {
    return ::mkfifo((folder_ + "/muster-gpu-GPU-1.fifo").c_str(), 0666) == 0 &&
           ::symlink("/dev/zero", (folder_ + "/muster-gpu-GPU-1.link").c_str()) == 0 &&
           ::mkdir((folder_ + "/muster-gpu-GPU-1.folder").c_str(), 0777) == 0 &&
           ::open((folder_ + "/muster-gpu-GPU-1.file").c_str(), O_CREAT | O_WRONLY, 0) >= 0;
  }));
  EXPECT_EQ(Holder("GPU-1"), std::nullopt);
  EXPECT_TRUE(LockGpu(folder_, "GPU-1", "pod b"));
}

TEST_F(GpuLockTest, IsNotKeptWhereOthersCouldRemoveIt) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  const auto lock = LockGpu(folder_, "GPU-1", "pod a");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, base::Code::kPermissionDenied);
  EXPECT_EQ(Files(), 0u);
}

}  // namespace
}  // namespace local::node
