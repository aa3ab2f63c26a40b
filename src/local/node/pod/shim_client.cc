#include "local/node/pod/shim_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "local/node/pod/cgroup.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/pod/report_file.h"
#include "local/node/pod/shim_files.h"
#include "process/file_lock.h"
#include "process/pidfd.h"
#include "process/procfs.h"
#include "process/spawn.h"

namespace local::node {
namespace {

constexpr std::chrono::seconds kReadyWait{20};
constexpr std::chrono::seconds kKillWait{10};
constexpr size_t kMaxAnswer = 4096;

base::Result<base::Fd> InMemory(std::string_view content) {
  base::Fd fd(::memfd_create("pod-spec", MFD_CLOEXEC));
  if (!fd) return base::Fail(base::Errno(errno, "memfd_create"));
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return base::Fail(base::Errno(errno, "write pod specification"));
    content.remove_prefix(static_cast<size_t>(written));
  }
  return fd;
}

// The sessions of containers that were running at the last report of the pod, in this boot of the
// machine.
std::vector<PodSession> SessionsIn(const std::string& directory) {
  std::vector<PodSession> sessions;
  const auto report = ReadReport(directory);
  if (!report || IsFromEarlierBoot(directory)) return sessions;
  for (const auto* list : {&report->init_containers, &report->containers}) {
    for (const ContainerReport& container : *list) {
      if (container.session.id > 0) sessions.push_back(container.session);
    }
  }
  return sessions;
}

// The shim's one answer, or what was read before it ended or the time was over.
base::Status AwaitReady(int fd) {
  std::string answer;
  char buffer[512];
  while (answer.size() < kMaxAnswer) {
    if (auto waited = process::WaitReadable(fd, kReadyWait); !waited) {
      return base::Fail(waited.error().Wrap("wait for the shim"));
    }
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(buffer, static_cast<size_t>(count));
  }
  if (answer == kReadyAnswer) return {};
  if (answer.empty()) answer = "it ended without a message";
  return base::Fail(base::Code::kUnavailable, "start shim: " + answer);
}

}  // namespace

base::Status WriteIdentity() {
  TRY_ASSIGN(const process::ProcessStat self, process::ReadStat(::getpid()));
  TRY_ASSIGN(const std::string boot_id, process::BootId());
  text::Object object;
  object["pid"] = self.pid;
  object["startTicks"] = self.start_ticks;
  object["bootId"] = boot_id;
  return base::WriteFileAtomic(kIdentityFile, text::ToJson(object) + "\n", 0600,
                               base::Durability::kSync);
}

base::Result<ShimIdentity> ReadIdentity(const std::string& directory) {
  TRY_ASSIGN(const std::string content, base::ReadFile(directory + "/" + kIdentityFile, 1 << 16));
  TRY_ASSIGN(const text::Json json, text::ParseJson(content));
  ShimIdentity identity;
  identity.pid = static_cast<pid_t>(text::GetInt(json, {"pid"}).value_or(0));
  identity.start_ticks = static_cast<uint64_t>(text::GetInt(json, {"startTicks"}).value_or(0));
  identity.boot_id = text::GetString(json, {"bootId"});
  if (identity.pid <= 0) {
    return base::Fail(base::Code::kInternal, "malformed " + directory + "/" + kIdentityFile);
  }
  return identity;
}

base::Status ShimHandle::Terminate(std::chrono::seconds grace) {
  base::Status sent = process::SendSignal(pidfd_.get(), SIGTERM, static_cast<int>(grace.count()));
  if (sent && grace.count() == 0) sent = process::SendSignal(pidfd_.get(), kAtOnceSignal, 0);
  if (sent) sent = process::SendSignal(pidfd_.get(), SIGCONT);
  if (!sent && sent.error().code == base::Code::kNotFound) return {};
  return sent;
}

base::Status ShimHandle::Kill() {
  // Opened before their parent ends: afterwards nothing shows whose children they were.
  std::vector<base::Fd> programs;
  for (const process::ProcessStat& program : process::Descendants(pid_)) {
    if (auto pidfd = process::OpenPidfd(program.pid)) programs.push_back(std::move(*pidfd));
  }
  const base::Status sent = process::SendSignal(pidfd_.get(), SIGKILL);
  if (!sent && sent.error().code != base::Code::kNotFound) return sent;
  for (const base::Fd& program : programs) (void)process::SendSignal(program.get(), SIGKILL);
  return {};
}

base::Result<ShimHandle> StartShim(const std::string& executable, const PodSpec& spec,
                                   const std::vector<int>& locks) {
  TRY(base::MakeDirs(spec.directory, 0700));
  TRY_ASSIGN(const base::Fd specification, InMemory(text::ToJson(ToJson(spec))));
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return base::Fail(base::Errno(errno, "open /dev/null"));
  const std::string diagnostics_path = spec.directory + "/" + kDiagnosticsFile;
  const base::Fd diagnostics(
      ::open(diagnostics_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!diagnostics) return base::Fail(base::Errno(errno, "open " + diagnostics_path));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  const base::Fd ready(ends[0]);
  base::Fd answer(ends[1]);

  process::SpawnOptions options;
  options.path = executable;
  options.argv = {"muster", "shim"};
  if (spec.is_in_user_scope) {
    const base::Environment environment = base::Environment::OfProcess();
    options.argv = InUserScope(spec.uid, {executable, "shim"});
    TRY_ASSIGN(options.path, process::FindProgram(options.argv[0], environment.GetOr("PATH", "")));
    for (const char* const name : {"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}) {
      if (const auto value = environment.Get(name)) {
        options.env.push_back(fmt::format("{}={}", name, *value));
      }
    }
  }
  options.cwd = "/";
  options.fds = {{null.get(), 0},
                 {null.get(), 1},
                 {diagnostics.get(), 2},
                 {specification.get(), kSpecFd},
                 {answer.get(), kReadyFd}};
  for (size_t i = 0; i < locks.size(); ++i) {
    options.fds.push_back({locks[i], kReadyFd + 1 + static_cast<int>(i)});
  }
  options.group = process::SpawnOptions::Group::kSession;
  options.is_detached = true;
  TRY_ASSIGN(const pid_t pid, process::Spawn(options));
  answer.Reset();
  TRY(AwaitReady(ready.get()));
  TRY_ASSIGN(base::Fd pidfd, process::OpenPidfd(pid));
  return ShimHandle(pid, std::move(pidfd));
}

base::Result<std::optional<ShimHandle>> AdoptShim(const std::string& directory) {
  const auto identity = ReadIdentity(directory);
  if (!identity) {
    if (identity.error().code == base::Code::kNotFound) return std::optional<ShimHandle>();
    // A failing disk can leave an empty file. A shim whose lock is free does not run.
    const auto lock = process::TryLockFile(directory + "/" + kLockFile);
    if (lock && *lock) return std::optional<ShimHandle>();
    return base::Fail(identity.error());
  }
  TRY_ASSIGN(const std::string boot_id, process::BootId());
  if (identity->boot_id != boot_id) return std::optional<ShimHandle>();
  auto pidfd = process::OpenPidfd(identity->pid);
  if (!pidfd) {
    if (pidfd.error().code == base::Code::kNotFound) return std::optional<ShimHandle>();
    return base::Fail(pidfd.error());
  }
  // Read after the descriptor was opened: either it is this process, or the pid was reused.
  const auto stat = process::ReadStat(identity->pid);
  if (!stat || stat->start_ticks != identity->start_ticks) return std::optional<ShimHandle>();
  TRY_ASSIGN(const auto lock, process::TryLockFile(directory + "/" + kLockFile));
  if (lock) return std::optional<ShimHandle>();
  return std::optional<ShimHandle>(ShimHandle(identity->pid, std::move(*pidfd)));
}

base::Status AddToLog(const std::string& directory, std::string_view lines) {
  TRY_ASSIGN(const std::optional<ShimHandle> shim, AdoptShim(directory));
  if (!shim) return base::Fail(base::Code::kNotFound, "the pod has ended");
  TRY(base::WriteFileAtomic(fmt::format("{}/{}", directory, kLogNoteFile), lines, 0600,
                            base::Durability::kNone));
  return process::SendSignal(shim->pidfd(), kLogNoteSignal);
}

bool IsFromEarlierBoot(const std::string& directory) {
  const auto identity = ReadIdentity(directory);
  const auto boot_id = process::BootId();
  return identity && boot_id && identity->boot_id != *boot_id;
}

base::Result<PodReport> ReadReport(const std::string& directory) {
  TRY_ASSIGN(const std::string content, base::ReadFile(directory + "/" + std::string(kReportFile)));
  TRY_ASSIGN(const text::Json json, text::ParseJson(content));
  return PodReportFromJson(json);
}

base::Status KillStrays(const std::string& directory, std::string_view pod_uid) {
  PodProcesses pod(pod_uid, SessionsIn(directory));
  const auto deadline = base::SystemClock().Steady() + kKillWait;
  // Checked twice, because during an exec a process has no visible environment.
  bool was_clear = false;
  while (true) {
    const std::vector<pid_t> strays = pod.Find();
    if (strays.empty()) {
      if (!std::exchange(was_clear, true)) continue;
      RemoveCgroups(FindCgroupPlace(::geteuid(), {}).mount, pod_uid);
      return {};
    }
    was_clear = false;
    std::vector<base::Fd> ending;
    for (const pid_t pid : strays) {
      auto pidfd = process::OpenPidfd(pid);
      // Checked again now that the descriptor refers to the process: a pid may have been reused.
      if (pidfd && pod.Has(pid) && process::SendSignal(pidfd->get(), SIGKILL)) {
        ending.push_back(std::move(*pidfd));
      }
    }
    if (ending.empty() && !pod.Find().empty()) {
      return base::Fail(
          base::Code::kPermissionDenied,
          fmt::format("kill the remaining processes of pod {}: not permitted", pod_uid));
    }
    for (const base::Fd& pidfd : ending) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - base::SystemClock().Steady());
      if (auto ended = process::WaitForEnd(pidfd.get(), left); !ended) {
        return base::Fail(
            ended.error().Wrap("kill the remaining processes of pod " + std::string(pod_uid)));
      }
    }
  }
}

}  // namespace local::node
