#include "rendezvous/sockets/connector.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/machine/ip_address.h"
#include "rendezvous/sockets/listener.h"

namespace rendezvous {
namespace {

// A port there that is listened to and never accepts: what it has room for is full.
class Full {
 public:
  Full(const std::string& address, uint16_t port) {
    const base::SocketAddress to(*base::ParseIpAddress(address), port);
    listener_ = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), to.get(), to.size), 0);
    EXPECT_EQ(::listen(listener_.get(), 0), 0);
    for (base::Fd& fd : fill_) {
      fd = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)::connect(fd.get(), to.get(), to.size);
    }
  }

 private:
  base::Fd listener_;
  base::Fd fill_[3];
};

TEST(ConnectToAny, LeavesTimeForTheAddressesBehindOneThatDoesNotAnswer) {
  const auto listener = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(listener);
  const Full silent("127.0.0.2", listener->port());
  const auto made = ConnectToAny(base::SystemClock(), {"127.0.0.2", "127.0.0.1"}, listener->port(),
                                 std::chrono::milliseconds(600));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->other_address, "127.0.0.1");
  const auto first =
      ConnectToAny(base::SystemClock(), {"127.0.0.1"}, listener->port(), std::chrono::seconds(10));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->other_address, "");
}

}  // namespace
}  // namespace rendezvous
