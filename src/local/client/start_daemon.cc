#include "local/client/start_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/file.h"
#include "process/file_lock.h"

namespace local::daemon {
namespace {

// Set for the daemon: the two descriptors exist.
constexpr const char* kReadyVariable = "MUSTER_DAEMON_READY";
constexpr int kReadyFd = 3;
constexpr int kLockFd = 4;
constexpr std::string_view kReadyWord = "ok";

constexpr int kStartTimeoutMs = 20'000;
// Where descriptors are put before they get their final number below.
constexpr int kAbove = 10;

// A thread of the command may block signals, and ignored signals stay ignored over an exec.
void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The daemon starts the jobs of all shells. What its own shell set by nice or ulimit is undone as
// far as the kernel allows it. The CPUs stay: a batch system may have given no others.
void ShedLimits() {
  if (getpriority(PRIO_PROCESS, 0) > 0) setpriority(PRIO_PROCESS, 0, 0);
  for (const auto resource : {RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
}

// In the child: becomes the daemon. Never returns.
[[noreturn]] void BecomeDaemon(const std::string& executable, int log, int ready, int lock,
                               ShellLimits limits) {
  setsid();
  if (const pid_t pid = fork(); pid != 0) _exit(pid > 0 ? 0 : 1);
  log = fcntl(log, F_DUPFD, kAbove);
  ready = fcntl(ready, F_DUPFD, kAbove);
  lock = fcntl(lock, F_DUPFD, kAbove);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (dup2(ready, kReadyFd) < 0 || dup2(lock, kLockFd) < 0) _exit(1);
  close_range(kLockFd + 1, ~0U, 0);
  if (chdir("/") != 0) _exit(1);
  ResetSignals();
  if (limits == ShellLimits::kShed) ShedLimits();
  setenv(kReadyVariable, "1", 1);
  const char* const argv[] = {executable.c_str(), "daemon", nullptr};
  execv(executable.c_str(), const_cast<char* const*>(argv));
  const std::string problem = fmt::format("exec {}: {}", executable, std::strerror(errno));
  [[maybe_unused]] const ssize_t written = write(kReadyFd, problem.data(), problem.size());
  _exit(1);
}

// Reads what the daemon reports through the pipe: kReadyWord, or why it could not start.
base::Status AwaitReady(int fd, const std::string& log) {
  std::string said;
  while (true) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, kStartTimeoutMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      return base::Fail(base::Code::kTimeout,
                        fmt::format("the daemon did not start within {} s; its log is {}",
                                    kStartTimeoutMs / 1000, log));
    }
    char buffer[1024];
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    said.append(buffer, static_cast<size_t>(count));
  }
  if (said == kReadyWord) return {};
  if (!said.empty()) {
    return base::Fail(base::Code::kUnavailable, "start the embedded cluster: " + said);
  }
  return base::Fail(base::Code::kCancelled,
                    fmt::format("the daemon ended while it started; its log is {}", log));
}

}  // namespace

base::Status StartDaemon(const std::string& executable, const std::string& log, base::Fd lock,
                         ShellLimits limits) {
  const base::Fd log_fd(
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log_fd) return base::Fail(base::Errno(errno, "open " + log));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  const base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return base::Fail(base::Errno(errno, "fork"));
  if (pid == 0) {
    BecomeDaemon(executable, log_fd.get(), write_end.get(), lock.get(), limits);
  }
  write_end.Reset();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  lock.Reset();  // only the daemon holds it from here on
  return AwaitReady(read_end.get(), log);
}

Handover::Handover() {
  if (getenv(kReadyVariable) == nullptr) return;
  unsetenv(kReadyVariable);
  ready_.Reset(kReadyFd);
  lock_.Reset(kLockFd);
  fcntl(ready_.get(), F_SETFD, FD_CLOEXEC);
  fcntl(lock_.get(), F_SETFD, FD_CLOEXEC);
}

base::Result<base::Fd> Handover::TakeLock(const std::string& path) {
  struct stat handed{};
  struct stat there{};
  const bool is_handed = lock_ && fstat(lock_.get(), &handed) == 0 &&
                         stat(path.c_str(), &there) == 0 && handed.st_dev == there.st_dev &&
                         handed.st_ino == there.st_ino;
  if (is_handed) return std::move(lock_);
  lock_.Reset();
  TRY_ASSIGN(std::optional<base::Fd> taken, process::TryLockFile(path));
  if (taken) return std::move(*taken);
  return base::Fail(base::Code::kAlreadyExists,
                    fmt::format("another daemon already uses {}", base::DirectoryOf(path)));
}

void Handover::SayReady() { Say(kReadyWord); }

void Handover::Say(std::string_view words) {
  if (!ready_) return;
  [[maybe_unused]] const ssize_t written = write(ready_.get(), words.data(), words.size());
  ready_.Reset();
}

}  // namespace local::daemon
