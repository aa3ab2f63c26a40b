#include "local/daemon/socket_keeper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/log.h"

namespace local::daemon {
namespace {

// Of a directory on the socket's path: what may have gone out of it; and, while there is no socket,
// what may have come back.
constexpr uint32_t kLosses = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr uint32_t kArrivals = IN_CREATE | IN_MOVED_TO | IN_ATTRIB;

bool IsSocket(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

SocketKeeper::SocketKeeper(process::Inotify inotify, base::Fd stop, std::string socket,
                           Restore restore)
    : inotify_(std::move(inotify)),
      stop_(std::move(stop)),
      socket_(std::move(socket)),
      restore_(std::move(restore)),
      thread_([this] { Run(); }) {}

base::Result<std::unique_ptr<SocketKeeper>> SocketKeeper::Start(std::string socket,
                                                                Restore restore) {
  TRY_ASSIGN(process::Inotify inotify, process::Inotify::Create());
  base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::Fail(base::Errno(errno, "eventfd"));
  return std::unique_ptr<SocketKeeper>(
      new SocketKeeper(std::move(inotify), std::move(stop), std::move(socket), std::move(restore)));
}

SocketKeeper::~SocketKeeper() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

// Every directory from the socket's up: what is unmounted goes out of the one above. Those that may
// not be watched, as "/" of some containers, do not matter much.
void SocketKeeper::WatchPlaces(uint32_t changes) {
  for (std::string folder = base::DirectoryOf(socket_); folder.size() > 1;
       folder = base::DirectoryOf(folder)) {
    if (const auto watched = inotify_.Watch(folder, changes); !watched) {
      base::LogDebug("{}", watched.error().message);
    }
  }
}

void SocketKeeper::Run() {
  std::array<pollfd, 2> fds{pollfd{inotify_.fd(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  bool is_lost = false;
  while (true) {
    // Before the look: no change is missed.
    WatchPlaces(is_lost ? kLosses | kArrivals : kLosses);
    if (!IsSocket(socket_)) {
      auto restored = restore_();
      if (restored) {
        base::LogWarn("the socket {} had vanished; it is {} now", socket_, *restored);
        socket_ = std::move(*restored);
        is_lost = false;
        continue;
      }
      if (!is_lost) {
        base::LogError("the socket {} has vanished: {}", socket_, restored.error().message);
        is_lost = true;
        continue;
      }
    }
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    (void)inotify_.Read();
  }
}

}  // namespace local::daemon
