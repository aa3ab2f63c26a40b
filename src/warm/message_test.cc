#include "warm/message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/fd.h"

namespace warm {
namespace {

struct SocketPair {
  SocketPair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near.Reset(ends[0]);
    far.Reset(ends[1]);
  }
  base::Fd near;
  base::Fd far;
};

TEST(WarmMessage, FieldsComeAsTheyWereSent) {
  const SocketPair pair;
  const Message first = {"start", "", "a\nb", std::string(3000, 'x')};
  ASSERT_TRUE(SendMessage(pair.near.get(), first, {}));
  ASSERT_TRUE(SendMessage(pair.near.get(), {"reaped"}, {}));
  MessageReader reader;
  EXPECT_EQ(*reader.Await(pair.far.get(), std::chrono::seconds(60)), first);
  EXPECT_EQ(*reader.Await(pair.far.get(), std::chrono::seconds(60)), Message{"reaped"});
  EXPECT_FALSE(reader.Next());
}

TEST(WarmMessage, OneThatIsLongerThanTheSocketHoldsIsSentWhole) {
  const SocketPair pair;
  const std::string large(900 << 10, 'y');
  std::thread writer([&] { EXPECT_TRUE(SendMessage(pair.near.get(), {"refused", large}, {})); });
  MessageReader reader;
  const auto message = reader.Await(pair.far.get(), std::chrono::seconds(60));
  writer.join();
  ASSERT_TRUE(message);
  EXPECT_EQ((*message)[1], large);
}

TEST(WarmMessage, HalfAMessageIsNone) {
  const SocketPair pair;
  ASSERT_EQ(::send(pair.near.get(), "\x06\0\0\0rea", 7, 0), 7);
  MessageReader reader;
  ASSERT_TRUE(reader.Read(pair.far.get()));
  EXPECT_FALSE(reader.Next());
  ASSERT_EQ(::send(pair.near.get(), "ped\x01", 4, 0), 4);
  ASSERT_TRUE(reader.Read(pair.far.get()));
  EXPECT_EQ(reader.Next(), Message{"reaped"});
  EXPECT_FALSE(reader.Next());
}

TEST(WarmMessage, NothingThereIsNoError) {
  const SocketPair pair;
  MessageReader reader;
  EXPECT_TRUE(reader.Read(pair.far.get()));
  EXPECT_EQ(reader.Await(pair.far.get(), std::chrono::milliseconds(0)).error().code,
            base::Code::kTimeout);
}

TEST(WarmMessage, AnOtherSideThatHasGoneOrMakesNoSenseIsUnavailable) {
  SocketPair pair;
  MessageReader reader;
  ASSERT_EQ(::send(pair.near.get(), "\xff\xff\xff\xff", 4, 0), 4);
  EXPECT_EQ(reader.Read(pair.far.get()).error().code, base::Code::kUnavailable);
  SocketPair gone;
  gone.near.Reset();
  MessageReader other;
  EXPECT_EQ(other.Await(gone.far.get(), std::chrono::seconds(60)).error().code,
            base::Code::kUnavailable);
  EXPECT_EQ(SendMessage(gone.far.get(), {"start"}, {}).error().code, base::Code::kUnavailable);
}

TEST(WarmMessage, DescriptorsTravelWithTheFirstByte) {
  const SocketPair pair;
  const SocketPair carried;
  ASSERT_TRUE(SendMessage(pair.near.get(), {"start"}, {carried.far.get()}));
  char bytes[16];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{bytes, sizeof bytes};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ASSERT_GT(::recvmsg(pair.far.get(), &header, MSG_CMSG_CLOEXEC), 4);
  const cmsghdr* const first = CMSG_FIRSTHDR(&header);
  ASSERT_NE(first, nullptr);
  int fd = -1;
  std::copy_n(CMSG_DATA(first), sizeof fd, reinterpret_cast<unsigned char*>(&fd));
  const base::Fd received(fd);
  ASSERT_EQ(::send(carried.near.get(), "!", 1, 0), 1);
  EXPECT_EQ(::read(received.get(), bytes, 1), 1);
}

TEST(WarmMessage, TheLastDescriptorThatCameIsKept) {
  const SocketPair pair;
  const SocketPair carried;
  MessageReader reader;
  ASSERT_TRUE(SendMessage(pair.near.get(), {"refused", "why"}, {}));
  ASSERT_TRUE(reader.Await(pair.far.get(), std::chrono::seconds(60)));
  EXPECT_FALSE(reader.TakeFd());
  ASSERT_TRUE(SendMessage(pair.near.get(), {"resident"}, {carried.far.get()}));
  ASSERT_TRUE(reader.Await(pair.far.get(), std::chrono::seconds(60)));
  const base::Fd received = reader.TakeFd();
  ASSERT_TRUE(received);
  EXPECT_FALSE(reader.TakeFd());
  char byte = 0;
  ASSERT_EQ(::send(carried.near.get(), "!", 1, 0), 1);
  EXPECT_EQ(::read(received.get(), &byte, 1), 1);
}

}  // namespace
}  // namespace warm
