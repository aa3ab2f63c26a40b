#include "process/inotify.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace process {

base::Result<Inotify> Inotify::Create() {
  base::Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) {
    base::Error error = base::Errno(errno, "inotify");
    if (errno == EMFILE) {
      error.message += " (fs.inotify.max_user_instances or ulimit -n is exhausted)";
    }
    return base::Fail(std::move(error));
  }
  return Inotify(std::move(fd));
}

base::Result<int> Inotify::Watch(const std::string& path, uint32_t mask) {
  const int watch = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (watch < 0) {
    base::Error error = base::Errno(errno, "watch " + path);
    if (errno == ENOSPC)
      error.message = "watch " + path + ": fs.inotify.max_user_watches is exhausted";
    return base::Fail(std::move(error));
  }
  return watch;
}

void Inotify::Unwatch(int watch) { ::inotify_rm_watch(fd_.get(), watch); }

std::vector<Inotify::Event> Inotify::Read() {
  std::vector<Event> events;
  alignas(inotify_event) char buffer[16384];
  while (true) {
    const ssize_t count = ::read(fd_.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return events;
    for (const char* at = buffer; at < buffer + count;) {
      inotify_event event;
      std::memcpy(&event, at, sizeof event);
      const char* const name = at + sizeof event;
      events.push_back({event.wd, event.mask, event.len == 0 ? "" : std::string(name)});
      at += sizeof event + event.len;
    }
  }
}

}  // namespace process
