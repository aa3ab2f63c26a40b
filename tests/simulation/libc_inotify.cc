// The C library's inotify: an instance that is closed is kept, and handed out again. The kernel
// frees one only once all processors have passed by, for which its close waits 20 to 40 ms, and a
// life closes four.
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <set>
#include <utility>

#include "disk.h"
#include "threads.h"

namespace simulation {
namespace {

struct Instance {
  bool is_lent = false;
  int epoll = -1;  // that waits for it
  std::set<int> watches;
};

std::map<int, Instance>& Instances() {
  static std::map<int, Instance> instances;
  return instances;
}

void Empty(int fd, Instance& instance) {
  for (const int watch : std::exchange(instance.watches, {})) {
    ::syscall(SYS_inotify_rm_watch, fd, watch);
  }
  if (instance.epoll >= 0) {
    ::syscall(SYS_epoll_ctl, std::exchange(instance.epoll, -1), EPOLL_CTL_DEL, fd, nullptr);
  }
  char events[16384];
  while (::syscall(SYS_read, fd, events, sizeof events) > 0) {
  }
}

}  // namespace

bool KeepInotify(int fd) {
  const auto found = Instances().find(fd);
  if (found == Instances().end()) return false;
  Empty(fd, found->second);
  found->second.is_lent = false;
  return true;
}

}  // namespace simulation

using namespace simulation;

extern "C" {

int inotify_init1(int flags) noexcept {
  if (!IsLive()) return static_cast<int>(::syscall(SYS_inotify_init1, flags));
  for (auto& [fd, instance] : Instances()) {
    if (!std::exchange(instance.is_lent, true)) return fd;
  }
  const auto fd = static_cast<int>(::syscall(SYS_inotify_init1, flags));
  if (fd >= 0) Instances()[fd].is_lent = true;
  return fd;
}

int inotify_add_watch(int fd, const char* path, uint32_t mask) noexcept {
  const auto watch = static_cast<int>(::syscall(SYS_inotify_add_watch, fd, path, mask));
  const auto found = Instances().find(fd);
  if (watch >= 0 && found != Instances().end()) found->second.watches.insert(watch);
  return watch;
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  const auto done = static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
  const auto found = Instances().find(fd);
  if (done == 0 && found != Instances().end()) {
    found->second.epoll = operation == EPOLL_CTL_DEL ? -1 : epoll;
  }
  return done;
}

}  // extern "C"
