#include "local/node/shim/shim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/log.h"
#include "local/node/pod/cgroup.h"
#include "local/node/pod/container_process.h"
#include "local/node/pod/shim_files.h"
#include "local/node/shim/container_run.h"
#include "local/node/shim/pod_runner.h"
#include "local/node/view/view.h"
#include "process/child_command.h"
#include "process/file_lock.h"
#include "process/signals.h"

namespace local::node {
namespace {

constexpr size_t kMaxSpecBytes = 16 << 20;
constexpr std::chrono::seconds kRemovalWait{30};

base::Result<PodSpec> ReadSpec() {
  TRY_ASSIGN(const std::string content,
             base::ReadFile(fmt::format("/proc/self/fd/{}", kSpecFd), kMaxSpecBytes));
  ::close(kSpecFd);
  TRY_ASSIGN(const text::Json json, text::ParseJson(content));
  return PodSpecFromJson(json);
}

// The steps before anything that concerns the pod itself: lock and identity.
base::Result<base::Fd> TakeDirectory(const PodSpec& spec) {
  // With this as the current directory, the pod's files stay reachable, whatever the view shows at
  // their paths.
  if (::chdir(spec.directory.c_str()) != 0) {
    return base::Fail(base::Errno(errno, "chdir " + spec.directory));
  }
  TRY_ASSIGN(std::optional<base::Fd> lock, process::TryLockFile(kLockFile));
  if (!lock) {
    return base::Fail(base::Code::kAlreadyExists, "a shim already runs in " + spec.directory);
  }
  TRY(WriteIdentity());
  return std::move(*lock);
}

void Answer(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(kReadyFd, text.data(), text.size());
  ::close(kReadyFd);
}

void RunPod(process::EventLoop& loop, PodRunner& runner, const PodSpec& spec) {
  const base::Status entered = NeedsView(spec) ? EnterView(spec) : base::Status();
  if (entered) {
    runner.Start();
  } else {
    const bool is_forbidden = entered.error().code == base::Code::kPermissionDenied;
    runner.Reject(is_forbidden ? "NamespaceForbidden" : "ViewFailed", entered.error().message);
  }
  if (const base::Status ran = loop.Run(); !ran) base::LogError("{}", ran.error().message);
}

// Podman keeps a container if its `podman run` was killed before it could remove it.
void RemoveFromPodman(const PodSpec& spec) {
  process::ChildCommand removal;
  removal.argv = {"podman", "rm", "--force", "--ignore", "--volumes"};
  for (const auto* list : {&spec.init_containers, &spec.containers}) {
    for (const ContainerSpec& container : *list) {
      if (container.podman_name.empty()) continue;
      removal.argv.push_back(container.podman_name);
      removal.env = ContainerEnvironment(spec, container);
    }
  }
  if (removal.env.empty()) return;
  removal.cwd = "/";
  removal.timeout = kRemovalWait;
  (void)process::RunToEnd(removal, [](std::string_view) {});
}

}  // namespace

int ShimMain() {
  // Inherited on purpose (locks of GPUs and ports), but not by the pod's programs.
  ::close_range(kReadyFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::fcntl(kReadyFd, F_SETFD, FD_CLOEXEC);
  auto spec = ReadSpec();
  if (!spec) {
    Answer("read the pod's specification: " + spec.error().message);
    return 1;
  }
  ::prctl(PR_SET_NAME, "muster-shim");
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT}) {
    process::IgnoreSignal(signal);
  }
  const auto signals = process::OpenSignalFd({SIGTERM, kAtOnceSignal, kLogNoteSignal, SIGCHLD});
  auto loop = process::EventLoop::Create(base::SystemClock());
  if (!signals || !loop || ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    Answer("set up the shim: no file descriptors left");
    return 1;
  }
  const auto lock = TakeDirectory(*spec);
  if (!lock) {
    Answer(lock.error().message);
    return 1;
  }
  if (const base::Status made = MakeCgroups(*spec); !made) {
    base::LogWarn("{}", made.error().message);
  }
  PodRunner runner(**loop, base::SystemClock(), *spec);
  const base::Status watched = (*loop)->Watch(signals->get(), EPOLLIN, [&](uint32_t) {
    while (const auto signal = process::ReadSignal(signals->get())) {
      const bool has_grace = signal->ssi_code == SI_QUEUE;
      if (signal->ssi_signo == kAtOnceSignal && has_grace) {
        runner.Terminate(std::chrono::seconds(0));
      } else if (signal->ssi_signo == SIGTERM) {
        runner.Terminate(has_grace ? std::chrono::seconds(signal->ssi_int)
                                   : spec->termination_grace);
      } else if (signal->ssi_signo == kLogNoteSignal) {
        runner.TakeLogNote();
      }
    }
    runner.Reap();
  });
  if (!watched) {
    Answer(watched.error().message);
    return 1;
  }
  Answer(kReadyAnswer);
  RunPod(**loop, runner, *spec);
  RemoveFromPodman(*spec);
  if (!spec->cgroup_mount.empty()) RemoveCgroups(spec->cgroup_mount, spec->uid);
  return 0;
}

}  // namespace local::node
