#include "process/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/fd.h"
#include "base/strings.h"
#include "process/unsanitized.h"

#ifdef MUSTER_SANITIZED
// ThreadSanitizer treats clone as a fork, and the parent's threads as lost; glibc's internal name
// avoids that.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...);
#define clone __clone
#endif

namespace process {
namespace {

enum class Step : int {
  kNone,
  kFork,
  kSession,
  kFds,
  kTerminal,
  kDirectory,
  kCgroup,
  kRights,
  kParent,
  kExec
};

// What the child writes to the pipe, which exec closes.
struct Outcome {
  Step step = Step::kNone;
  int os_errno = 0;
  pid_t detached_pid = 0;
};

// Room for two calls of depth three and no buffer; the C library's own spawn uses 32 KiB.
struct alignas(16) Stack {
  std::array<std::byte, 32 << 10> bytes;
};

// Everything that the child needs, prepared in advance: it shares our memory and may not allocate.
struct Prepared {
  const SpawnOptions* options;
  std::vector<char*> argv;
  std::vector<char*> env;
  std::vector<int> sources;  // scratch for moving descriptors
  int last_target = 2;
  int report = -1;
  pid_t parent = 0;
  std::string cgroup_processes;  // the file that takes its processes
  std::unique_ptr<std::array<Stack, 2>>
      stacks;  // of the child, and of the grandchild of a detached start
};

// vfork with a stack of its own: ours stays unchanged, and children can have children. Returns when
// the child has called exec or ended.
MUSTER_UNSANITIZED pid_t StartSharing(int (*run)(void*), Prepared& prepared, size_t depth) {
  Stack& stack = (*prepared.stacks)[depth];
  return ::clone(run, stack.bytes.data() + stack.bytes.size(), CLONE_VM | CLONE_VFORK | SIGCHLD,
                 &prepared);
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] MUSTER_UNSANITIZED void Abandon(int report, Step step) {
  const Outcome outcome{step, errno, 0};
  // A pipe takes a message of this size as a whole or not at all.
  [[maybe_unused]] const ssize_t written = ::write(report, &outcome, sizeof outcome);
  ::_exit(127);
}

MUSTER_UNSANITIZED void ResetSignals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  // The C library reserves signals 32 and 33, and some parents (GNU make) pass them on ignored. A
  // kernel sigaction of zeros is the default action, whatever its layout.
  const uint64_t kernel_action[4] = {};
  for (const int signal : {32, 33}) {
    ::syscall(SYS_rt_sigaction, signal, kernel_action, nullptr, sizeof(uint64_t));
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Moves every source above the targets first, so that no dup2 overwrites one still needed.
MUSTER_UNSANITIZED void PlaceFds(Prepared& prepared) {
  const auto& mappings = prepared.options->fds;
  const int report = ::fcntl(prepared.report, F_DUPFD_CLOEXEC, prepared.last_target + 1);
  if (report < 0) Abandon(prepared.report, Step::kFds);
  prepared.report = report;
  for (size_t i = 0; i < mappings.size(); ++i) {
    prepared.sources[i] = ::fcntl(mappings[i].from, F_DUPFD_CLOEXEC, prepared.last_target + 1);
    if (prepared.sources[i] < 0) Abandon(prepared.report, Step::kFds);
  }
  for (size_t i = 0; i < mappings.size(); ++i) {
    // dup2 of the C library would tell the thread sanitizer of a descriptor of the parent.
    if (::syscall(SYS_dup3, prepared.sources[i], mappings[i].to, 0) < 0) {
      Abandon(prepared.report, Step::kFds);
    }
  }
  // Best effort in addition to O_CLOEXEC, against libraries that forget it.
  ::syscall(SYS_close_range, static_cast<unsigned>(prepared.last_target + 1), ~0U,
            CLOSE_RANGE_CLOEXEC);
}

MUSTER_UNSANITIZED void DieWithParent(const Prepared& prepared) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) Abandon(prepared.report, Step::kParent);
  // The parent may have died before the request took effect.
  if (::getppid() != prepared.parent) ::_exit(127);
}

MUSTER_UNSANITIZED int RunChild(void* argument) {
  Prepared& prepared = *static_cast<Prepared*>(argument);
  const SpawnOptions& options = *prepared.options;
  if (options.dies_with_parent) DieWithParent(prepared);
  if (options.group == SpawnOptions::Group::kSession && ::setsid() < 0) {
    Abandon(prepared.report, Step::kSession);
  }
  if (options.group == SpawnOptions::Group::kProcessGroup && ::setpgid(0, 0) != 0) {
    Abandon(prepared.report, Step::kSession);
  }
  PlaceFds(prepared);
  if (options.has_terminal && ::ioctl(0, TIOCSCTTY, 0) != 0) {
    Abandon(prepared.report, Step::kTerminal);
  }
  if (!options.cwd.empty() && ::chdir(options.cwd.c_str()) != 0) {
    Abandon(prepared.report, Step::kDirectory);
  }
  if (!prepared.cgroup_processes.empty()) {
    const int processes = ::open(prepared.cgroup_processes.c_str(), O_WRONLY | O_CLOEXEC);
    if (processes < 0 || ::write(processes, "0", 1) != 1) Abandon(prepared.report, Step::kCgroup);
    ::close(processes);
  }
  if (options.rights.AreReduced()) {
    errno = TakeRights(options.rights);
    if (errno != 0) Abandon(prepared.report, Step::kRights);
    // Changing the user clears the request.
    if (options.dies_with_parent) DieWithParent(prepared);
  }
  if (options.umask) ::umask(*options.umask);
  ResetSignals();
  ::execve(options.path.c_str(), prepared.argv.data(), prepared.env.data());
  Abandon(prepared.report, Step::kExec);
}

// Runs in the child of a detached start: starts the grandchild, reports its pid, and ends.
MUSTER_UNSANITIZED int RunIntermediate(void* argument) {
  Prepared& prepared = *static_cast<Prepared*>(argument);
  prepared.parent = ::getpid();
  const int report = prepared.report;  // RunChild moves its own
  const pid_t grandchild = StartSharing(RunChild, prepared, 1);
  if (grandchild < 0) Abandon(report, Step::kFork);
  const Outcome outcome{Step::kNone, 0, grandchild};
  [[maybe_unused]] const ssize_t written = ::write(report, &outcome, sizeof outcome);
  ::_exit(0);
}

base::Error Explain(const SpawnOptions& options, const Outcome& outcome) {
  switch (outcome.step) {
    case Step::kDirectory:
      return base::Errno(outcome.os_errno, fmt::format("chdir \"{}\"", options.cwd));
    case Step::kExec: {
      struct stat info{};
      base::Error error = base::Errno(outcome.os_errno, fmt::format("exec \"{}\"", options.path));
      if (outcome.os_errno == ENOENT && ::stat(options.path.c_str(), &info) == 0) {
        error.message += " (the interpreter in its first line is missing)";
      }
      if (outcome.os_errno == ENOEXEC) {
        error.message += " (its first line is not like #!/bin/sh, or it is for another machine)";
      }
      return error;
    }
    case Step::kCgroup:
      return base::Errno(outcome.os_errno, "enter the cgroup " + options.cgroup);
    case Step::kRights:
      return base::Errno(outcome.os_errno, options.rights.user
                                               ? fmt::format("run as user {}", *options.rights.user)
                                               : std::string("give up capabilities"));
    case Step::kFork:
      return base::Errno(outcome.os_errno, "fork");
    case Step::kSession:
      return base::Errno(outcome.os_errno, "make a process group");
    case Step::kTerminal:
      return base::Errno(outcome.os_errno, "take the terminal");
    default:
      return base::Errno(outcome.os_errno, "set up the process");
  }
}

// Reads until exec or death closes the pipe: at most two messages.
Outcome ReadOutcome(int fd) {
  Outcome all;
  Outcome one;
  while (true) {
    const ssize_t count = ::read(fd, &one, sizeof one);
    if (count < 0 && errno == EINTR) continue;
    if (count != static_cast<ssize_t>(sizeof one)) return all;
    if (one.detached_pid != 0) all.detached_pid = one.detached_pid;
    if (one.step != Step::kNone) {
      all.step = one.step;
      all.os_errno = one.os_errno;
    }
  }
}

void Reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

base::Result<pid_t> Spawn(const SpawnOptions& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);

  Prepared prepared{&options,
                    Pointers(options.argv),
                    Pointers(options.env),
                    {},
                    2,
                    ends[1],
                    0,
                    options.cgroup.empty() ? "" : options.cgroup + "/cgroup.procs",
                    std::make_unique_for_overwrite<std::array<Stack, 2>>()};
  prepared.sources.resize(options.fds.size());
  for (const FdMapping& fd : options.fds) {
    prepared.last_target = std::max(prepared.last_target, fd.to);
  }
  prepared.parent = ::getpid();

  // No signal handler of ours may run in the child while it shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = StartSharing(options.is_detached ? RunIntermediate : RunChild, prepared, 0);
  const int fork_errno = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return base::Fail(base::Errno(fork_errno, "fork"));

  writer.Reset();
  const Outcome outcome = ReadOutcome(reader.get());
  if (options.is_detached || outcome.step != Step::kNone) Reap(child);
  if (outcome.step != Step::kNone) return base::Fail(Explain(options, outcome));
  return options.is_detached ? outcome.detached_pid : child;
}

mode_t CurrentUmask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

std::string PathOf(const std::vector<std::string>& env) {
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const std::string& entry : env) {
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  }
  return path;
}

base::Result<std::string> FindProgram(const std::string& name, std::string_view path_list) {
  if (name.find('/') != std::string::npos) return name;
  bool is_forbidden = false;
  for (const std::string& dir : base::Split(path_list, ':')) {
    if (dir.empty() || name.empty()) continue;
    std::string candidate = dir + "/" + name;
    struct stat info{};
    if (::stat(candidate.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    is_forbidden = true;
  }
  if (is_forbidden) {
    return base::Fail(base::Code::kPermissionDenied,
                      fmt::format("exec: \"{}\": permission denied", name));
  }
  return base::Fail(base::Code::kNotFound,
                    fmt::format("exec: \"{}\": executable file not found in $PATH", name));
}

base::Result<pid_t> SpawnQuietly(SpawnOptions options) {
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return base::Fail(base::Errno(errno, "open /dev/null"));
  options.fds = {
      {null.get(), STDIN_FILENO}, {null.get(), STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
  return Spawn(options);
}

}  // namespace process
