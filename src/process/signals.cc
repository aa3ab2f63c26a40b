#include "process/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace process {

base::Result<base::Fd> OpenSignalFd(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (const int failed = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); failed != 0) {
    return base::Fail(base::Errno(failed, "block signals"));
  }
  base::Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return base::Fail(base::Errno(errno, "signalfd"));
  return fd;
}

std::optional<signalfd_siginfo> ReadSignal(int fd) {
  signalfd_siginfo info{};
  while (true) {
    const ssize_t count = ::read(fd, &info, sizeof info);
    if (count == static_cast<ssize_t>(sizeof info)) return info;
    if (count < 0 && errno == EINTR) continue;
    return std::nullopt;
  }
}

void IgnoreSignal(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace process
