#include "witness/unanswered.h"

#include <gtest/gtest.h>

namespace witness {
namespace {

process::TcpSocket SocketTo(const std::string& peer, bool is_connecting, int unanswered) {
  process::TcpSocket socket;
  socket.inode = 7;
  socket.peer = peer;
  socket.is_connecting = is_connecting;
  socket.unanswered = unanswered;
  return socket;
}

TEST(Unanswered, SaysWhatTheRankTriesAndSinceWhenItMatters) {
  const auto said = [](const process::TcpSocket& socket, uint64_t inode = 7) {
    return SayUnanswered({SocketTo("10.0.0.1:1", false, 0), socket}, {inode});
  };
  EXPECT_EQ(said(SocketTo("10.0.0.2:5", true, 2)),
            "connects to 10.0.0.2:5 and gets no answer: is there a firewall?");
  EXPECT_EQ(said(SocketTo("10.0.0.2:5", true, 1)), "");
  EXPECT_EQ(said(SocketTo("10.0.0.2:5", false, 4)),
            "sends to 10.0.0.2:5 and gets no answer: is the network cut, or does it lose large "
            "packets (MTU)?");
  EXPECT_EQ(said(SocketTo("10.0.0.2:5", false, 3)), "");
  EXPECT_EQ(said(SocketTo("10.0.0.2:5", true, 2), 8), "") << "another process's";
}

}  // namespace
}  // namespace witness
