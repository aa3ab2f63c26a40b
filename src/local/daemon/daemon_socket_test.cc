#include "local/daemon/daemon_socket.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <thread>

#include "base/file.h"
#include "net/socket/unix.h"

namespace local::daemon {
namespace {

TEST(DaemonSocket, IsWaitedForWhileThatOfAKilledDaemonTakesConnections) {
  char folder[] = "/tmp/muster-socket-XXXXXX";
  const std::string path = std::string(::mkdtemp(folder)) + "/muster.sock";
  auto before = net::ListenOnUnixPath(path);
  ASSERT_TRUE(before) << before.error().message;
  std::jthread kernel([&before] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    before->Reset();
  });
  const auto server = ListenOnSocket(path, {});
  EXPECT_TRUE(server) << server.error().message;
  kernel.join();
  (void)base::RemoveTree(folder);
}

}  // namespace
}  // namespace local::daemon
