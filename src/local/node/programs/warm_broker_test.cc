#include "local/node/programs/warm_broker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "base/fd.h"

namespace local::node {
namespace {

bool CanConnect(const std::string& path) {
  const base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

TEST(WarmBroker, ConnectionsSucceedFromItsStartToItsEnd) {
  char folder[] = "/tmp/muster-broker-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string socket = std::string(folder) + "/warm.socket";
  {
    // `cat` of the runtime directory, a pipe here, does not end by itself.
    const std::string pipe = std::string(folder) + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto broker = WarmBroker::Start("/bin/cat", socket, pipe);
    ASSERT_TRUE(broker) << broker.error().message;
    EXPECT_TRUE(CanConnect(socket));
    struct stat info{};
    ASSERT_EQ(::stat(socket.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    // As a clean-up does that does not know sockets.
    std::filesystem::remove(socket);
    const base::Status again = (*broker)->ListenAgain();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(CanConnect(socket));
  }
  EXPECT_FALSE(CanConnect(socket));
  EXPECT_FALSE(std::filesystem::exists(socket));
  std::filesystem::remove_all(folder);
}

TEST(WarmBroker, WithoutALauncherThereIsNone) {
  char folder[] = "/tmp/muster-broker-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string socket = std::string(folder) + "/warm.socket";
  EXPECT_EQ(WarmBroker::Start("/no/launcher", socket, folder).error().code, base::Code::kNotFound);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace local::node
