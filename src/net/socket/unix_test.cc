#include "net/socket/unix.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/testing/server_fixture.h"

namespace net {
namespace {

using UnixSocketTest = ServerFixture;

base::Code CodeOf(const base::Result<base::Fd>& result) {
  return result ? base::Code::kInternal : result.error().code;
}

TEST_F(UnixSocketTest, OnlyTheOwnerCanReachIt) {
  const auto listener = ListenOnUnixPath(path_);
  ASSERT_TRUE(listener) << listener.error().message;
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
  EXPECT_NE(::fcntl(listener->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(UnixSocketTest, RefusesADirectoryThatOthersCanEnter) {
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  EXPECT_EQ(CodeOf(ListenOnUnixPath(path_)), base::Code::kPermissionDenied);
  EXPECT_EQ(CodeOf(ListenOnUnixPath(directory_ + "/none/s")), base::Code::kNotFound);
}

TEST_F(UnixSocketTest, APathOfAnyLengthFits) {
  const std::string folder = directory_ + "/" + std::string(200, 'x');
  ASSERT_TRUE(base::MakeDirs(folder, 0700));
  const auto listener = ListenOnUnixPath(folder + "/s");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(ConnectToUnixPath(folder + "/s", kTestPatience));
  EXPECT_EQ(CodeOf(ListenOnUnixPath(directory_ + "/" + std::string(100, 'y'))),
            base::Code::kInvalidArgument);
}

TEST_F(UnixSocketTest, DoesNotConnectWhereOthersCouldListen) {
  const auto listener = ListenOnUnixPath(path_);
  ASSERT_TRUE(listener);
  for (const mode_t mode : {0755U, 0777U, 01777U}) {
    ASSERT_EQ(::chmod(directory_.c_str(), mode), 0);
    EXPECT_EQ(CodeOf(ConnectToUnixPath(path_, kTestPatience)), base::Code::kPermissionDenied);
  }
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
  EXPECT_TRUE(ConnectToUnixPath(path_, kTestPatience));
  const std::string link = directory_ + "/link";
  ASSERT_EQ(::symlink(directory_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(ConnectToUnixPath(link + "/s", kTestPatience));
}

TEST_F(UnixSocketTest, ReplacesAStaleSocket) {
  ASSERT_TRUE(ListenOnUnixPath(path_));  // closed at once: the file stays
  EXPECT_EQ(CodeOf(ConnectToUnixPath(path_, kTestPatience)), base::Code::kUnavailable);
  const auto listener = ListenOnUnixPath(path_);
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_TRUE(ConnectToUnixPath(path_, kTestPatience));
}

TEST_F(UnixSocketTest, RefusesASecondListener) {
  const auto listener = ListenOnUnixPath(path_);
  ASSERT_TRUE(listener);
  EXPECT_EQ(CodeOf(ListenOnUnixPath(path_)), base::Code::kAlreadyExists);
  EXPECT_TRUE(ConnectToUnixPath(path_, kTestPatience));
}

TEST_F(UnixSocketTest, NeverReplacesAFileThatIsNoSocket) {
  ASSERT_TRUE(base::WriteFileAtomic(path_, "precious", 0600, base::Durability::kNone));
  EXPECT_EQ(CodeOf(ListenOnUnixPath(path_)), base::Code::kAlreadyExists);
  EXPECT_EQ(*base::ReadFile(path_), "precious");
}

TEST_F(UnixSocketTest, OneOfManyStartersWins) {
  ASSERT_TRUE(ListenOnUnixPath(path_));  // stale
  std::vector<base::Result<base::Fd>> results(8);
  std::vector<std::thread> starters;
  for (auto& result : results) {
    starters.emplace_back([&] { result = ListenOnUnixPath(path_); });
  }
  for (auto& starter : starters) starter.join();
  int listening = 0;
  for (const auto& result : results) {
    if (result) {
      ++listening;
    } else {
      EXPECT_EQ(result.error().code, base::Code::kAlreadyExists) << result.error().message;
    }
  }
  EXPECT_EQ(listening, 1);
}

TEST_F(UnixSocketTest, AServerThatEndsRemovesOnlyItsOwnSocket) {
  const auto ignore = [](HttpRequest, const std::shared_ptr<Responder>&) {};
  Serve(ignore);
  EXPECT_EQ(::access(path_.c_str(), F_OK), 0);
  StopServer();
  EXPECT_NE(::access(path_.c_str(), F_OK), 0);

  Serve(ignore);
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  const auto other = ListenOnUnixPath(path_);
  ASSERT_TRUE(other);
  StopServer();
  EXPECT_TRUE(ConnectToUnixPath(path_, kTestPatience));
}

TEST_F(UnixSocketTest, AServerWhoseSocketVanishedListensAgain) {
  Serve([](HttpRequest, const std::shared_ptr<Responder>& responder) { responder->Send({}); });
  ASSERT_TRUE(client_->Send({"GET", "/", {}, ""}));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  ASSERT_TRUE(server_->ListenAt(path_));
  EXPECT_TRUE(HttpClient::Unix(path_, kTestPatience)->Send({"GET", "/", {}, ""}));
  const std::string elsewhere = directory_ + "/t";
  ASSERT_TRUE(server_->ListenAt(elsewhere));
  EXPECT_TRUE(HttpClient::Unix(elsewhere, kTestPatience)->Send({"GET", "/", {}, ""}));
  EXPECT_TRUE(client_->Send({"GET", "/", {}, ""})) << "who is connected stays so";
  StopServer();
  EXPECT_NE(::access(elsewhere.c_str(), F_OK), 0);
}

// The calling thread becomes another user who can still pass the directory.
bool BecomeOther() {
  if (::syscall(SYS_setresuid, -1, 65534, -1) != 0) return false;
  ::setfsuid(0);
  return true;
}

TEST_F(UnixSocketTest, AServerRefusesPeersOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  Serve([](HttpRequest, const std::shared_ptr<Responder>& responder) { responder->Send({}); });
  std::thread stranger([this] {
    ASSERT_TRUE(BecomeOther());
    RawPeer peer(path_);
    peer.Send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(peer.ReadToClose(), "");
  });
  stranger.join();
  EXPECT_TRUE(client_->Send({"GET", "/", {}, ""}));
}

TEST_F(UnixSocketTest, NothingIsSentToAListenerOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const auto address = base::UnixAddressOf(path_);
  ASSERT_TRUE(address);
  const base::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), address->get(), sizeof address->address), 0);
  std::thread stranger([&] {
    ASSERT_TRUE(BecomeOther());
    ASSERT_EQ(::listen(listener.get(), 1), 0);
  });
  stranger.join();
  EXPECT_EQ(CodeOf(ConnectToUnixPath(path_, kTestPatience)), base::Code::kPermissionDenied);
}

}  // namespace
}  // namespace net
