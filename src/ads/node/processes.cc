#include "ads/node/processes.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/fd.h"
#include "process/event_loop.h"
#include "process/pidfd.h"
#include "process/signals.h"
#include "process/spawn.h"

namespace ads {
namespace {

constexpr std::chrono::seconds kKillAfter{10};
constexpr std::chrono::seconds kAskInterval{1};

// Checks each second, on its own thread, until it is told to stop or is destroyed.
class StopAsker {
 public:
  StopAsker(const std::function<bool()>& must_stop, std::function<void()> on_stop)
      : thread_([this, must_stop, on_stop = std::move(on_stop)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!stop.stop_requested()) {
            wake_.wait_for(lock, stop, kAskInterval, [] { return false; });
            if (stop.stop_requested() || !must_stop()) continue;
            on_stop();
            return;
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

class NodeRunner {
 public:
  NodeRunner(process::EventLoop& loop, const StopWatch& watch) : loop_(loop), watch_(watch) {}

  base::Status Start(const std::vector<NodeProcess>& processes, const std::string& path_list,
                     const std::string& directory, const StartedFunction& started);
  base::Result<NodeOutcome> Wait(int signals);

 private:
  struct Child {
    pid_t pid;
    base::Fd pidfd;
    bool has_ended = false;
  };
  void Reap(Child& child);
  void EndAll();
  void SignalAll(int signal);

  process::EventLoop& loop_;
  const StopWatch& watch_;
  std::vector<std::unique_ptr<Child>> children_;
  size_t left_ = 0;
  bool is_ending_ = false;
  NodeOutcome outcome_;
};

base::Status NodeRunner::Start(const std::vector<NodeProcess>& processes,
                               const std::string& path_list, const std::string& directory,
                               const StartedFunction& started) {
  for (size_t i = 0; i < processes.size(); ++i) {
    process::SpawnOptions options;
    auto path = process::FindProgram(processes[i].argv[0], path_list);
    if (!path) {
      SignalAll(SIGKILL);
      return base::Fail(path.error());
    }
    options.path = *path;
    options.argv = processes[i].argv;
    options.env = processes[i].env;
    options.cwd = directory;
    options.fds = {{STDIN_FILENO, 0}, {STDOUT_FILENO, 1}, {STDERR_FILENO, 2}};
    options.group = process::SpawnOptions::Group::kProcessGroup;
    options.dies_with_parent = true;
    const auto pid = process::Spawn(options);
    auto pidfd = pid ? process::OpenPidfd(*pid) : base::Result<base::Fd>(base::Fail(pid.error()));
    if (!pidfd) {
      SignalAll(SIGKILL);
      return base::Fail(pidfd.error());
    }
    children_.push_back(std::make_unique<Child>(Child{*pid, std::move(*pidfd)}));
    ++left_;
    started(*pid, i);
  }
  return {};
}

void NodeRunner::SignalAll(int signal) {
  for (const auto& child : children_) {
    if (!child->has_ended) ::kill(-child->pid, signal);
  }
}

void NodeRunner::EndAll() {
  if (is_ending_) return;
  is_ending_ = true;
  SignalAll(SIGTERM);
  loop_.After(kKillAfter, [this] { SignalAll(SIGKILL); });
}

void NodeRunner::Reap(Child& child) {
  int status = 0;
  if (::waitpid(child.pid, &status, WNOHANG) != child.pid) return;
  loop_.Unwatch(child.pidfd.get());
  child.has_ended = true;
  // Processes that it left behind (data loaders) hold the GPU.
  ::kill(-child.pid, SIGKILL);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code != 0 && !is_ending_) {
    outcome_.exit_code = code;
    EndAll();
  }
  if (--left_ == 0) loop_.Stop();
}

base::Result<NodeOutcome> NodeRunner::Wait(int signals) {
  for (const auto& child : children_) {
    Child* const one = child.get();
    TRY(loop_.Watch(one->pidfd.get(), EPOLLIN, [this, one](uint32_t) { Reap(*one); }));
  }
  TRY(loop_.Watch(signals, EPOLLIN, [this, signals](uint32_t) {
    while (const auto signal = process::ReadSignal(signals)) {
      outcome_.signal = static_cast<int>(signal->ssi_signo);
      EndAll();
    }
  }));
  const auto end_early = [this] {
    if (is_ending_) return;
    outcome_.was_stopped = true;
    EndAll();
  };
  std::unique_ptr<StopAsker> asker;
  if (watch_.must_stop && watch_.changes_fd >= 0) {
    TRY(loop_.Watch(watch_.changes_fd, EPOLLIN, [this, end_early](uint32_t) {
      if (watch_.must_stop()) end_early();
    }));
    if (watch_.must_stop()) end_early();
  } else if (watch_.must_stop) {
    asker =
        std::make_unique<StopAsker>(watch_.must_stop, [this, end_early] { loop_.Post(end_early); });
  }
  const base::Status run = loop_.Run();
  asker.reset();
  if (watch_.must_stop && watch_.changes_fd >= 0) loop_.Unwatch(watch_.changes_fd);
  loop_.Unwatch(signals);
  if (!run) return base::Fail(run.error());
  return outcome_;
}

}  // namespace

base::Result<NodeOutcome> RunNodeProcesses(const std::vector<NodeProcess>& processes,
                                           const std::string& path_list,
                                           const std::string& directory, const StopWatch& watch,
                                           base::Clock& clock, const StartedFunction& started) {
  TRY_ASSIGN(const base::Fd signals, process::OpenSignalFd({SIGTERM, SIGINT}));
  TRY_ASSIGN(const auto loop, process::EventLoop::Create(clock));
  NodeRunner runner(*loop, watch);
  TRY(runner.Start(processes, path_list, directory, started));
  return runner.Wait(signals.get());
}

}  // namespace ads
