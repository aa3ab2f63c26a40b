#include "process/pidfd.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/clock.h"

namespace process {
namespace {

base::Error ProcessError(int os_errno, const char* context) {
  base::Error error = base::Errno(os_errno, context);
  if (os_errno == ESRCH) error.code = base::Code::kNotFound;
  return error;
}

}  // namespace

base::Result<base::Fd> OpenPidfd(pid_t pid) {
  base::Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!fd) return base::Fail(ProcessError(errno, "pidfd_open"));
  return fd;
}

base::Status SendSignal(int pidfd, int signal, std::optional<int> value) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = value.value_or(0);
  siginfo_t* const sent = value ? &info : nullptr;
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, sent, 0U) != 0) {
    return base::Fail(ProcessError(errno, "signal process"));
  }
  return {};
}

base::Status WaitForEnd(int pidfd, std::chrono::milliseconds timeout) {
  return WaitReadable(pidfd, timeout);
}

base::Status WaitReadable(int fd, std::chrono::milliseconds timeout) {
  base::Clock& clock = base::SystemClock();
  const auto deadline = clock.Steady() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.Steady());
    pollfd item{fd, POLLIN, 0};
    const int ready =
        ::poll(&item, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return base::Fail(base::Errno(errno, "poll"));
    if (ready == 0) return base::Fail(base::Errno(ETIMEDOUT, "wait"));
  }
}

}  // namespace process
