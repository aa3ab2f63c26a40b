#include "local/daemon/socket_keeper.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>

#include "base/file.h"
#include "base/guarded.h"
#include "net/unix_socket.h"

namespace local::daemon {
namespace {

class SocketKeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-keeper-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    socket_ = folder_ + "/a/b/socket";
    ASSERT_TRUE(Listen());
    auto keeper = SocketKeeper::Start(socket_, [this]() -> base::Result<std::string> {
      auto count = restored_.Lock();
      ++*count;
      changed_.notify_all();
      if (!Listen()) return base::Fail(base::Code::kUnavailable, "no place");
      return socket_;
    });
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
  // Until the socket was missed that often.
  void Await(int count) {
    auto restored = restored_.Lock();
    changed_.wait(restored.lock(), [&] { return *restored >= count; });
  }

  std::string folder_, socket_;
  base::Fd listener_;
  base::Guarded<int> restored_;
  std::condition_variable changed_;
  std::unique_ptr<SocketKeeper> keeper_;
};

TEST_F(SocketKeeperTest, MissesTheSocketAndTheDirectoriesAboveIt) {
  ASSERT_EQ(::unlink(socket_.c_str()), 0);
  Await(1);
  ASSERT_TRUE(base::RemoveTree(folder_ + "/a/b"));
  Await(2);
  ASSERT_EQ(::rename((folder_ + "/a").c_str(), (folder_ + "/elsewhere").c_str()), 0);
  Await(3);
}

}  // namespace
}  // namespace local::daemon
