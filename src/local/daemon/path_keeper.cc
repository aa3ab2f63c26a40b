#include "local/daemon/path_keeper.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/log.h"

namespace local::daemon {
namespace {

// For a directory above a path: events of a loss, and, while a path is missing, of its return.
constexpr uint32_t kLosses = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr uint32_t kArrivals = IN_CREATE | IN_MOVED_TO | IN_ATTRIB;

}  // namespace

bool IsSocket(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

PathKeeper::PathKeeper(process::Inotify inotify, base::Fd stop, std::vector<KeptPath> paths)
    : inotify_(std::move(inotify)), stop_(std::move(stop)) {
  for (KeptPath& path : paths) places_.push_back({std::move(path)});
  thread_ = std::thread([this] { Run(); });
}

base::Result<std::unique_ptr<PathKeeper>> PathKeeper::Start(std::vector<KeptPath> paths) {
  TRY_ASSIGN(process::Inotify inotify, process::Inotify::Create());
  base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::Fail(base::Errno(errno, "eventfd"));
  return std::unique_ptr<PathKeeper>(
      new PathKeeper(std::move(inotify), std::move(stop), std::move(paths)));
}

PathKeeper::~PathKeeper() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

// Watches every directory from the path's upwards: an unmount is reported in the directory above.
// Directories that cannot be watched, such as "/" in some containers, matter little.
void PathKeeper::WatchPlaces() {
  const bool is_lost =
      std::any_of(places_.begin(), places_.end(), [](const Place& place) { return place.is_lost; });
  for (const Place& place : places_) {
    for (std::string folder = base::DirectoryOf(place.kept.path); folder.size() > 1;
         folder = base::DirectoryOf(folder)) {
      const auto watched = inotify_.Watch(folder, is_lost ? kLosses | kArrivals : kLosses);
      if (!watched) base::LogDebug("{}", watched.error().message);
    }
  }
}

// Whether something has changed, so that everything has to be checked again.
bool PathKeeper::Look(Place& place) {
  KeptPath& kept = place.kept;
  if (kept.is_there(kept.path)) return std::exchange(place.is_lost, false);
  auto restored = kept.restore();
  if (restored) {
    base::LogWarn("the {} {} was deleted; it is {} now", kept.what, kept.path, *restored);
    kept.path = std::move(*restored);
    place.is_lost = false;
    return true;
  }
  if (std::exchange(place.is_lost, true)) return false;
  base::LogError("the {} {} was deleted: {}", kept.what, kept.path, restored.error().message);
  return true;
}

void PathKeeper::Run() {
  std::array<pollfd, 2> fds{pollfd{inotify_.fd(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  while (true) {
    // Before the check, so that no change is missed.
    WatchPlaces();
    bool has_changed = false;
    for (Place& place : places_) has_changed = Look(place) || has_changed;
    if (has_changed) continue;
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    (void)inotify_.Read();
  }
}

}  // namespace local::daemon
