#include "local/daemon/connect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "local/daemon/daemon.h"

namespace local::daemon {
namespace {

constexpr int kStartTimeoutMs = 20'000;
// What the kernel gets to end a process.
constexpr std::chrono::seconds kKillTime{10};

base::Status CheckPrivate(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return base::Fail(base::Errno(errno, "stat " + path));
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022) != 0) {
    return base::Fail(
        base::Code::kPermissionDenied,
        fmt::format("{} must be a directory of your own that nobody else can write to", path));
  }
  return {};
}

// Connected, or nothing when nobody listens.
base::Result<base::Fd> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("socket path {} is longer than {} characters: set XDG_RUNTIME_DIR "
                    "to a shorter one",
                    path, sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return base::Fail(base::Errno(errno, "socket"));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return base::Fd();
    return base::Fail(base::Errno(errno, "connect to " + path));
  }
  return fd;
}

base::Result<base::Fd> LockStart(const std::string& path) {
  base::Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return base::Fail(base::Errno(errno, "open " + path));
  while (flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return base::Fail(base::Errno(errno, "lock " + path));
  }
  return fd;
}

// In the child: becomes the daemon. Never returns.
[[noreturn]] void BecomeDaemon(const std::string& executable, int log, int ready) {
  setsid();
  if (const pid_t pid = fork(); pid != 0) _exit(pid > 0 ? 0 : 1);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  if (dup2(ready, kReadyFd) < 0) _exit(1);
  close_range(kReadyFd + 1, ~0U, 0);
  if (chdir("/") != 0) _exit(1);
  setenv(kReadyVariable, "1", 1);
  const char* const argv[] = {executable.c_str(), "daemon", nullptr};
  execv(executable.c_str(), const_cast<char* const*>(argv));
  const std::string problem = fmt::format("exec {}: {}", executable, std::strerror(errno));
  [[maybe_unused]] const ssize_t written = write(kReadyFd, problem.data(), problem.size());
  _exit(1);
}

// What the daemon says through the pipe: "ok", or why it could not start.
base::Status AwaitReady(int fd, const Paths& paths) {
  std::string said;
  while (true) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, kStartTimeoutMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      return base::Fail(base::Code::kTimeout,
                        fmt::format("the daemon did not start within {} s; its log is {}",
                                    kStartTimeoutMs / 1000, paths.log));
    }
    char buffer[1024];
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    said.append(buffer, static_cast<size_t>(count));
  }
  if (said == kReadyWord) return {};
  return base::Fail(base::Code::kUnavailable,
                    said.empty()
                        ? fmt::format("the daemon ended while it started; its log is {}", paths.log)
                        : "start the embedded cluster: " + said);
}

base::Status Start(const Paths& paths, const std::string& executable) {
  const base::Fd log(
      open(paths.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log) return base::Fail(base::Errno(errno, "open " + paths.log));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  const base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return base::Fail(base::Errno(errno, "fork"));
  if (pid == 0) BecomeDaemon(executable, log.get(), write_end.get());
  write_end.Reset();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return AwaitReady(read_end.get(), paths);
}

base::Status SignalProcess(const base::Fd& pidfd, int number) {
  if (syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0) == 0 || errno == ESRCH) {
    return {};
  }
  return base::Fail(base::Errno(errno, "signal the daemon"));
}

bool AwaitEnd(const base::Fd& pidfd, std::chrono::milliseconds time) {
  pollfd waiting{pidfd.get(), POLLIN, 0};
  int ended = 0;
  while ((ended = poll(&waiting, 1, static_cast<int>(time.count()))) < 0 && errno == EINTR) {
  }
  return ended > 0;
}

}  // namespace

Paths PathsOf(const base::Environment& environment) {
  Paths paths;
  paths.state = environment.StateDir();
  paths.runtime = environment.RuntimeDir();
  paths.socket = paths.runtime + "/muster.sock";
  paths.start_lock = paths.runtime + "/start.lock";
  paths.lock = paths.state + "/daemon.lock";
  paths.database = paths.state + "/cluster.db";
  paths.log = paths.state + "/daemon.log";
  return paths;
}

base::Status MakePrivateDirs(const Paths& paths) {
  for (const std::string* path : {&paths.state, &paths.runtime}) {
    TRY(base::MakeDirs(*path, 0700));
    TRY(CheckPrivate(*path));
    if (chmod(path->c_str(), 0700) != 0) return base::Fail(base::Errno(errno, "chmod " + *path));
  }
  return {};
}

base::Result<std::optional<pid_t>> RunningDaemon(const Paths& paths) {
  TRY_ASSIGN(const base::Fd fd, Connect(paths.socket));
  if (!fd) return std::optional<pid_t>();
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return base::Fail(base::Errno(errno, "ask for the daemon's pid"));
  }
  if (peer.uid != geteuid() && peer.uid != 0) {
    return base::Fail(base::Code::kPermissionDenied,
                      fmt::format("{} belongs to another user", paths.socket));
  }
  return std::optional<pid_t>(peer.pid);
}

base::Status EnsureDaemon(const base::Environment& environment, const std::string& executable) {
  const Paths paths = PathsOf(environment);
  TRY_ASSIGN(const base::Fd connected, Connect(paths.socket));
  if (connected) return {};
  TRY(MakePrivateDirs(paths));
  TRY_ASSIGN(const base::Fd lock, LockStart(paths.start_lock));
  TRY_ASSIGN(const base::Fd connected_meanwhile, Connect(paths.socket));
  if (connected_meanwhile) return {};
  return Start(paths, executable);
}

base::Status StopDaemon(const Paths& paths, std::chrono::milliseconds grace) {
  TRY_ASSIGN(const std::optional<pid_t> pid, RunningDaemon(paths));
  if (!pid) return {};
  const base::Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!pidfd) {
    if (errno == ESRCH) return {};
    return base::Fail(base::Errno(errno, "find the daemon"));
  }
  TRY(SignalProcess(pidfd, SIGTERM));
  if (AwaitEnd(pidfd, grace)) return {};
  base::LogWarn("the daemon (pid {}) did not end within {} s and is killed", *pid,
                std::chrono::duration_cast<std::chrono::seconds>(grace).count());
  TRY(SignalProcess(pidfd, SIGKILL));
  if (AwaitEnd(pidfd, kKillTime)) return {};
  return base::Fail(base::Code::kTimeout,
                    fmt::format("the daemon (pid {}) does not end: the kernel waits for something, "
                                "perhaps its disk",
                                *pid));
}

base::Result<std::string> OwnExecutable() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size < 0) return base::Fail(base::Errno(errno, "find the path of this program"));
  return std::string(path, static_cast<size_t>(size));
}

}  // namespace local::daemon
