#include "local/client/connect.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "local/client/start_daemon.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/pod/shim_client.h"
#include "net/socket/unix.h"
#include "process/file_lock.h"
#include "process/inotify.h"
#include "process/pidfd.h"

namespace local::daemon {
namespace {

using std::chrono::milliseconds;
using Instant = std::chrono::steady_clock::time_point;

// How long a daemon may take to end, or to start.
constexpr std::chrono::seconds kArrivalPatience{20};
// How long all daemons that come and go meanwhile may take together.
constexpr std::chrono::seconds kArrivalLimit{60};
// How long an older daemon may take to end before it is killed.
constexpr std::chrono::seconds kReplaceGrace{15};
// How long the kernel may take to end a process.
constexpr std::chrono::seconds kKillTime{10};
// A daemon whose connection queue is full counts as running after this.
constexpr std::chrono::seconds kConnectTime{5};
// How many daemons in a row may be killed while they start.
constexpr int kMaxStarts = 5;
// How long to wait when nothing signals a change: a holder of the lock died before it had written
// its record.
constexpr milliseconds kBlindWait{50};

base::Status CheckPrivate(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    base::Error error = base::Errno(errno, "stat " + path);
    // Under `su -m` and `sudo -E`, HOME is the caller's.
    if (error.code == base::Code::kPermissionDenied) {
      error.message += ": set HOME (`sudo -H` does) or XDG_STATE_HOME to a folder of yours";
    }
    return base::Fail(std::move(error));
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 022) != 0) {
    return base::Fail(
        base::Code::kPermissionDenied,
        fmt::format("{} must be a directory of your own that nobody else can write to", path));
  }
  return {};
}

// The record in the lock, if it is trustworthy. Nullopt when there is none.
base::Result<std::optional<DaemonRecord>> TrustedRecord(const Paths& paths) {
  const base::Status is_private = CheckPrivate(paths.state);
  if (is_private) return ReadRecord(paths.lock);
  if (is_private.error().code == base::Code::kNotFound) return std::optional<DaemonRecord>();
  return base::Fail(is_private.error());
}

// The daemon that listens at `socket`. Nullopt when none does.
base::Result<std::optional<DaemonRecord>> AskSocket(const std::string& socket, const Paths& paths) {
  const auto fd = net::ConnectToUnixPath(socket, kConnectTime);
  const bool is_full = !fd && fd.error().code == base::Code::kTimeout;
  if (!fd && fd.error().code == base::Code::kUnavailable) return std::optional<DaemonRecord>();
  if (!fd && !is_full) return base::Fail(fd.error());
  ucred peer{};
  socklen_t size = sizeof peer;
  if (fd && getsockopt(fd->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return base::Fail(base::Errno(errno, "ask for the daemon's pid"));
  }
  // Read after connecting: another daemon may have taken over a moment ago.
  TRY_ASSIGN(auto record, ReadRecord(paths.lock));
  // 0: it is in another pid namespace, or unknown.
  if (!record || (peer.pid != 0 && peer.pid != record->pid)) {
    return std::optional(DaemonRecord{peer.pid, "", {}, socket});
  }
  // A program that a killed daemon was about to execute holds the daemon's socket for a moment.
  if (peer.pid != 0 && !IsAlive(*record)) return std::optional<DaemonRecord>();
  record->socket = socket;
  return record;
}

// The daemon that accepts connections. Nullopt when none does.
base::Result<std::optional<DaemonRecord>> Reach(const Paths& paths) {
  TRY_ASSIGN(const auto record, TrustedRecord(paths));
  if (record && !record->socket.empty()) {
    TRY_ASSIGN(auto reached, AskSocket(record->socket, paths));
    if (reached) return reached;
  }
  // Older musters wrote no record.
  struct stat info{};
  if (lstat(paths.socket.c_str(), &info) != 0) return std::optional<DaemonRecord>();
  return AskSocket(paths.socket, paths);
}

bool IsDaemonProcess(pid_t pid) {
  const auto words = base::ReadFile(fmt::format("/proc/{}/cmdline", pid));
  return words && words->find(std::string("\0daemon", 7)) != std::string::npos;
}

bool IsExecutableOf(pid_t pid, const std::string& executable) {
  char path[PATH_MAX];
  const ssize_t size = readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  return size > 0 && std::string_view(path, static_cast<size_t>(size)) == executable;
}

bool IsOlder(const DaemonRecord& daemon, const Caller& caller) {
  if (!IsNewer(caller.build, daemon.build)) return false;
  // It has no record because the disk is full, not because it is old.
  return !daemon.build.version.empty() || !IsExecutableOf(daemon.pid, caller.executable);
}

// The holder of the lock as far as it is known: the daemon, or a command that starts it.
base::Result<std::optional<DaemonRecord>> HolderOf(const Paths& paths) {
  TRY_ASSIGN(auto record, TrustedRecord(paths));
  if (record && IsAlive(*record)) return record;
  // An older muster, or one that could not write its record.
  const auto holder = LockHolder(paths.lock);
  if (!holder || !IsDaemonProcess(*holder)) return std::optional<DaemonRecord>();
  return std::optional(DaemonRecord{*holder, "", {}, paths.socket});
}

// One command's attempt to reach a listening daemon.
class Arrival {
 public:
  Arrival(const Paths& paths, const Caller& caller) : paths_(paths), caller_(caller) {}

  base::Result<DaemonRecord> Run();

 private:
  base::Result<bool> Start(base::Fd lock);
  base::Status Await();
  void Replace(const DaemonRecord& older);
  base::Error TooLong() const;
  static Instant Now() { return base::SystemClock().Steady(); }

  const Paths& paths_;
  const Caller& caller_;
  std::optional<process::Inotify> inotify_;
  const Instant begin_ = Now();
  Instant deadline_ = begin_ + kArrivalPatience;
  std::optional<Instant> kill_time_;
  pid_t holder_ = 0;    // of the lock, as far as it is known
  pid_t replaced_ = 0;  // it was asked to end
  int starts_ = 0;
};

base::Result<DaemonRecord> Arrival::Run() {
  while (true) {
    TRY_ASSIGN(std::optional<base::Fd> lock, process::TryLockFile(paths_.lock));
    if (lock) {
      TRY_ASSIGN(const bool has_started, Start(std::move(*lock)));
      if (!has_started) continue;
    }
    // From here on no change is missed.
    if (!inotify_) {
      if (auto made = process::Inotify::Create()) inotify_ = std::move(*made);
    }
    if (inotify_) TRY(inotify_->Watch(paths_.lock, IN_MODIFY));
    TRY_ASSIGN(const auto reached, Reach(paths_));
    if (reached && !IsOlder(*reached, caller_)) return *reached;
    if (reached) Replace(*reached);
    TRY(Await());
  }
}

// False when it was killed meanwhile.
base::Result<bool> Arrival::Start(base::Fd lock) {
  // Tells waiting commands whom they wait for.
  TRY_ASSIGN(const DaemonRecord own, OwnRecord(caller_.build, ""));
  if (const auto written = WriteRecord(lock.get(), own); !written) {
    base::LogDebug("{}", written.error().message);
  }
  const base::Status started =
      StartDaemon(caller_.executable, paths_.log, std::move(lock), caller_.limits);
  if (started) return true;
  if (started.error().code == base::Code::kCancelled && ++starts_ < kMaxStarts) return false;
  return base::Fail(started.error());
}

void Arrival::Replace(const DaemonRecord& older) {
  if (older.pid == replaced_) return;
  const auto pidfd = process::OpenPidfd(older.pid);
  // Another process may have that pid now.
  if (!pidfd || (older.started.empty() ? !IsDaemonProcess(older.pid) : !IsAlive(older))) return;
  base::LogInfo("replacing the embedded cluster's daemon {} by {}; its jobs continue",
                older.build.text(), caller_.build.text());
  if (process::SendSignal(pidfd->get(), SIGTERM)) replaced_ = older.pid;
  kill_time_ = Now() + kReplaceGrace;
}

// Returns when something may have changed.
base::Status Arrival::Await() {
  TRY_ASSIGN(auto running, HolderOf(paths_));
  // This command's own record, written before its daemon was killed.
  if (running && running->pid == ::getpid()) running.reset();
  const pid_t holder = running ? running->pid : 0;
  if (holder != holder_) deadline_ = std::min(Now() + kArrivalPatience, begin_ + kArrivalLimit);
  holder_ = holder;
  if (Now() >= deadline_) return base::Fail(TooLong());
  if (running && running->build.version.empty() && IsOlder(*running, caller_)) Replace(*running);

  const base::Result<base::Fd> pidfd =
      running ? process::OpenPidfd(running->pid) : base::Result<base::Fd>(base::Fd());
  Instant until = deadline_;
  if (!running || !pidfd || !inotify_) until = std::min(until, Now() + kBlindWait);
  if (replaced_ == holder && kill_time_) {
    if (Now() >= *kill_time_ && pidfd) (void)process::SendSignal(pidfd->get(), SIGKILL);
    if (Now() < *kill_time_) until = std::min(until, *kill_time_);
  }
  std::array<pollfd, 2> fds{pollfd{inotify_ ? inotify_->fd() : -1, POLLIN, 0},
                            pollfd{pidfd ? pidfd->get() : -1, POLLIN, 0}};
  const auto left = std::chrono::ceil<milliseconds>(until - Now());
  const int ready =
      poll(fds.data(), fds.size(), static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX)));
  if (ready < 0 && errno != EINTR) return base::Fail(base::Errno(errno, "wait for the daemon"));
  if (inotify_) (void)inotify_->Read();
  return {};
}

base::Error Arrival::TooLong() const {
  if (holder_ == 0) {
    return {base::Code::kTimeout,
            fmt::format("{} is held by a process that is not visible here (on another machine, or "
                        "outside of this container?): use muster there",
                        paths_.lock),
            0};
  }
  return {base::Code::kTimeout,
          fmt::format("the embedded cluster's daemon (pid {}) neither answers nor ends: `muster "
                      "down --force` ends it; its log is {}",
                      holder_, paths_.log),
          0};
}

}  // namespace

bool IsInPod(const base::Environment& environment) {
  return environment.Get(node::kPodUidVariable).has_value();
}

base::Status CheckNotInPod(const base::Environment& environment) {
  if (!IsInPod(environment)) return {};
  return base::Fail(
      base::Code::kUnavailable,
      fmt::format("this is a pod of the embedded cluster ({}={}), which starts no daemon, and the "
                  "one that runs it does not answer{}: run `muster up` outside of the pod",
                  node::kPodUidVariable, *environment.Get(node::kPodUidVariable),
                  environment.Get(node::kSocketVariable)
                      ? " on " + *environment.Get(node::kSocketVariable)
                      : ""));
}

Paths PathsOf(const base::Environment& environment) {
  Paths paths;
  paths.state = environment.StateDir();
  paths.runtime = environment.RuntimeDir();
  // A pod has folders of its own, but its daemon is the one that runs it.
  paths.socket = IsInPod(environment) ? environment.GetOr(node::kSocketVariable, "")
                                      : paths.runtime + "/muster.sock";
  paths.lock = paths.state + "/daemon.lock";
  paths.down = paths.state + "/down";
  paths.database = paths.state + "/cluster.db";
  paths.backup = paths.state + "/cluster.db.backup";
  paths.log = paths.state + "/daemon.log";
  return paths;
}

base::Status MakePrivateDirs(const Paths& paths) {
  for (const std::string* path : {&paths.state, &paths.runtime}) {
    if (base::Status made = base::MakeDirs(*path, 0700); !made) {
      base::Error error = made.error().Wrap(
          path == &paths.state ? "the state folder" : "the folder of the daemon's socket");
      error.message += fmt::format(": set {} to a folder of yours",
                                   path == &paths.state ? "XDG_STATE_HOME" : "XDG_RUNTIME_DIR");
      return base::Fail(std::move(error));
    }
    TRY(CheckPrivate(*path));
    if (chmod(path->c_str(), 0700) != 0) return base::Fail(base::Errno(errno, "chmod " + *path));
  }
  return {};
}

base::Result<std::optional<DaemonRecord>> RunningDaemon(const Paths& paths) {
  TRY_ASSIGN(auto holder, HolderOf(paths));
  if (holder && holder->socket.empty()) holder.reset();
  return holder;
}

base::Result<DaemonRecord> EnsureDaemon(const Caller& caller) {
  const Paths paths = PathsOf(caller.environment);
  TRY_ASSIGN(auto reached, Reach(paths));
  const bool is_in_pod = IsInPod(caller.environment);
  if (reached && (is_in_pod || !IsOlder(*reached, caller))) return std::move(*reached);
  TRY(CheckNotInPod(caller.environment));
  TRY(MakePrivateDirs(paths));
  return Arrival(paths, caller).Run();
}

base::Result<DaemonRecord> ReviveDaemon(const Caller& caller) {
  if (::access(PathsOf(caller.environment).down.c_str(), F_OK) != 0) return EnsureDaemon(caller);
  return base::Fail(base::Code::kUnavailable,
                    "the embedded cluster was put down; `muster up` starts it again");
}

base::Status StopDaemon(const Paths& paths, std::chrono::milliseconds grace) {
  TRY_ASSIGN(const auto daemon, RunningDaemon(paths));
  if (!daemon) return {};
  const auto pidfd = process::OpenPidfd(daemon->pid);
  if (!pidfd) {
    return pidfd.error().code == base::Code::kNotFound ? base::Status() : base::Fail(pidfd.error());
  }
  const auto signal = [&pidfd](int number) -> base::Status {
    base::Status sent = process::SendSignal(pidfd->get(), number);
    if (!sent && sent.error().code == base::Code::kNotFound) return {};
    return sent;
  };
  // On a full disk, continues all the same.
  (void)base::WriteFileAtomic(paths.down, "", 0600, base::Durability::kNone);
  TRY(signal(SIGTERM));
  if (process::WaitForEnd(pidfd->get(), grace)) return {};
  base::LogWarn("the daemon (pid {}) did not end within {} s; killing it", daemon->pid,
                std::chrono::duration_cast<std::chrono::seconds>(grace).count());
  TRY(signal(SIGKILL));
  if (process::WaitForEnd(pidfd->get(), kKillTime)) return {};
  return base::Fail(
      base::Code::kTimeout,
      fmt::format("the daemon (pid {}) cannot be killed: the kernel is waiting for something, "
                  "perhaps its disk",
                  daemon->pid));
}

base::Result<std::string> OwnExecutable() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size < 0) return base::Fail(base::Errno(errno, "find the path of this program"));
  return std::string(path, static_cast<size_t>(size));
}

}  // namespace local::daemon
