#include "local/daemon/path_keeper.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>

#include "base/file.h"
#include "base/guarded.h"
#include "net/socket/unix.h"

namespace local::daemon {
namespace {

class PathKeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-keeper-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    socket_ = folder_ + "/a/b/socket";
    ASSERT_TRUE(Listen());
    file_ = folder_ + "/state/file";
    ASSERT_TRUE(WriteFile());
    auto keeper = PathKeeper::Start(
        {{"socket", socket_, IsSocket,
          [this]() -> base::Result<std::string> {
            auto count = restored_.Lock();
            ++*count;
            changed_.notify_all();
            if (!Listen()) return base::Fail(base::Code::kUnavailable, "no place");
            return socket_;
          }},
         {"file", file_, [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; },
          [this]() -> base::Result<std::string> {
            auto count = files_restored_.Lock();
            ++*count;
            changed_.notify_all();
            if (!WriteFile()) return base::Fail(base::Code::kUnavailable, "no place");
            return file_;
          }}});
    ASSERT_TRUE(keeper) << keeper.error().message;
    keeper_ = std::move(*keeper);
  }
  void TearDown() override {
    keeper_.reset();
    EXPECT_TRUE(base::RemoveTree(folder_));
  }
  bool Listen() {
    if (!base::MakeDirs(base::DirectoryOf(socket_))) return false;
    auto listener = net::ListenOnUnixPath(socket_);
    if (listener) listener_ = std::move(*listener);
    return listener.has_value();
  }
  bool WriteFile() {
    return base::MakeDirs(base::DirectoryOf(file_)) &&
           base::WriteFileAtomic(file_, "x", 0600, base::Durability::kNone);
  }
  // Waits until the socket was missed that often.
  void Await(int count) {
    auto restored = restored_.Lock();
    changed_.wait(restored.lock(), [&] { return *restored >= count; });
  }

  std::string folder_, socket_, file_;
  base::Fd listener_;
  base::Guarded<int> restored_{0}, files_restored_{0};
  std::condition_variable changed_;
  std::unique_ptr<PathKeeper> keeper_;
};

TEST_F(PathKeeperTest, MissesTheSocketAndTheDirectoriesAboveIt) {
  ASSERT_EQ(::unlink(socket_.c_str()), 0);
  Await(1);
  // In one step: if the folder were removed piece by piece, the socket would be created again in it
  // meanwhile.
  ASSERT_EQ(::rename((folder_ + "/a/b").c_str(), (folder_ + "/gone").c_str()), 0);
  Await(2);
  ASSERT_EQ(::rename((folder_ + "/a").c_str(), (folder_ + "/elsewhere").c_str()), 0);
  Await(3);
}

TEST_F(PathKeeperTest, KeepsEachOfItsPaths) {
  ASSERT_EQ(::unlink(file_.c_str()), 0);
  auto restored = files_restored_.Lock();
  changed_.wait(restored.lock(), [&] { return *restored == 1; });
  EXPECT_EQ(*restored_.Lock(), 0);
}

}  // namespace
}  // namespace local::daemon
