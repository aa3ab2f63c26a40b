#include "process/sockets.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/fd.h"

namespace process {
namespace {

bool HasOpenSocket(uint64_t inode) {
  const std::vector<std::string> files = OpenFilesOf(::getpid());
  return std::any_of(files.begin(), files.end(),
                     [inode](const std::string& file) { return SocketInode(file) == inode; });
}

TEST(Sockets, ATcpSocketIsSeenWithItsPortAndItsProcess) {
  const base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(fd.get(), generic, size), 0);
  ASSERT_EQ(::listen(fd.get(), 1), 0);
  ASSERT_EQ(::getsockname(fd.get(), generic, &size), 0);
  const std::vector<TcpSocket> sockets = TcpSocketsAround(::getpid());
  const auto ours = std::find_if(sockets.begin(), sockets.end(), [&](const TcpSocket& socket) {
    return socket.is_listening && socket.port == ntohs(address.sin_port);
  });
  ASSERT_NE(ours, sockets.end());
  EXPECT_TRUE(HasOpenSocket(ours->inode));
}

TEST(Sockets, AConnectionThatIsNotAnsweredIsSeenWithItsPeer) {
  const auto loopback = [](uint32_t address, uint16_t port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_addr.s_addr = htonl(address);
    made.sin_port = port;
    return made;
  };
  sockaddr_in to = loopback(INADDR_LOOPBACK + 2, 0);
  auto* const generic = reinterpret_cast<sockaddr*>(&to);
  socklen_t size = sizeof to;
  const base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), generic, size), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  ASSERT_EQ(::getsockname(listener.get(), generic, &size), 0);
  // It accepts none: once it has no room, the kernel does not answer.
  std::array<base::Fd, 3> clients;
  for (base::Fd& client : clients) {
    client = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)::connect(client.get(), generic, size);
  }
  const std::string peer = "127.0.0.3:" + std::to_string(ntohs(to.sin_port));
  int most = 0;
  for (int tries = 0; tries < 100 && most == 0; ++tries) {
    ::usleep(100'000);
    for (const TcpSocket& socket : TcpSocketsAround(::getpid())) {
      if (socket.is_connecting && socket.peer == peer) most = std::max(most, socket.unanswered);
    }
  }
  EXPECT_GT(most, 0);
}

TEST(Sockets, OfUnixSocketsThoseThatListen) {
  const auto count_ours = [] {
    const std::vector<uint64_t> inodes = ListeningUnixSocketsAround(::getpid());
    return std::count_if(inodes.begin(), inodes.end(), HasOpenSocket);
  };
  const auto before = count_ours();
  const base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};  // the kernel chooses an abstract name
  address.sun_family = AF_UNIX;
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
  EXPECT_EQ(count_ours(), before);
  ASSERT_EQ(::listen(fd.get(), 1), 0);
  EXPECT_EQ(count_ours(), before + 1);
}

TEST(Sockets, OtherFilesAreNone) {
  for (const char* const file : {"/dev/null", "pipe:[7]", "socket:[x]", "socket:["}) {
    EXPECT_FALSE(SocketInode(file)) << file;
  }
  EXPECT_EQ(SocketInode("socket:[7]"), 7U);
}

}  // namespace
}  // namespace process
