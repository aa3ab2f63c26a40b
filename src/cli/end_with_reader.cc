#include "cli/end_with_reader.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

#include "base/block_signals.h"

namespace cli {
namespace {

bool HasReader(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Of this thread alone: what other threads do with their SIGPIPE does not take it away.
void EndByPipe() {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
  ::raise(SIGPIPE);
}

void AwaitEnd(int fd, int stop) {
  for (;;) {
    std::array<pollfd, 2> fds = {{{fd, 0, 0}, {stop, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if ((fds[0].revents & (POLLERR | POLLHUP)) != 0) return EndByPipe();
  }
}

}  // namespace

EndWithReader::EndWithReader(int fd) {
  if (!HasReader(fd)) return;
  stop_ = base::Fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return;
  const base::BlockSignals block;
  thread_ = std::thread(AwaitEnd, fd, stop_.get());
}

EndWithReader::~EndWithReader() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

}  // namespace cli
