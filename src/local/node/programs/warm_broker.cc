#include "local/node/programs/warm_broker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"
#include "process/spawn.h"

namespace local::node {
namespace {

constexpr int kMostWaitingPods = 512;
constexpr int kListenerFd = 3;

// By way of its folder, a path of any length fits.
base::Result<base::Fd> ListenAt(const std::string& path) {
  const std::string folder_path = base::DirectoryOf(path);
  const base::Fd folder(::open(folder_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  base::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name =
      fmt::format("/proc/self/fd/{}/{}", folder.get(), path.substr(folder_path.size() + 1));
  if (name.size() >= sizeof address.sun_path) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("\"{}\": the name is too long", path));
  }
  std::memcpy(address.sun_path, name.c_str(), name.size());
  ::unlink(path.c_str());
  if (!folder || !listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), kMostWaitingPods) != 0) {
    return base::Fail(base::Errno(errno, fmt::format("listen on \"{}\"", path)));
  }
  return listener;
}

}  // namespace

base::Result<std::unique_ptr<WarmBroker>> WarmBroker::Start(const std::string& launcher,
                                                            const std::string& socket,
                                                            const std::string& runtime) {
  std::unique_ptr<WarmBroker> broker(new WarmBroker(launcher, socket, runtime));
  TRY(broker->Execute());
  return broker;
}

base::Status WarmBroker::Execute() {
  TRY_ASSIGN(const base::Fd listener, ListenAt(socket_));
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return base::Fail(base::Errno(errno, "open /dev/null"));
  process::SpawnOptions options;
  options.path = launcher_;
  options.argv = {"muster warm-broker", runtime_};
  options.cwd = "/";
  options.fds = {{null.get(), 0}, {null.get(), 1}, {2, 2}, {listener.get(), kListenerFd}};
  options.group = process::SpawnOptions::Group::kProcessGroup;
  options.dies_with_parent = true;
  TRY_ASSIGN(pid_, process::Spawn(options));
  return {};
}

base::Status WarmBroker::ListenAgain() {
  End();
  return Execute();
}

void WarmBroker::End() {
  if (pid_ == 0) return;
  ::unlink(socket_.c_str());
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

WarmBroker::~WarmBroker() { End(); }

}  // namespace local::node
