#include "local/node/exec/server.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "local/node/plan/podman.h"
#include "local/node/pod/container_process.h"
#include "process/child_command.h"
#include "process/procfs.h"
#include "process/spawn.h"

namespace local::node {
namespace {

// More than can run: connections without a request yet, or refused and not closed yet.
constexpr size_t kMaxConnections = 2 * kMaxExecs;

// Signals every process of the session, wherever in the tree below the shim it is. A killed process
// has no new children, so the last round finds no new process.
void SignalSession(pid_t session, int signal) {
  std::set<pid_t> signalled;
  bool is_anybody_new = true;
  while (is_anybody_new) {
    is_anybody_new = false;
    for (const process::ProcessStat& process : process::Descendants(::getpid())) {
      if (process.session != session || process.state == 'Z') continue;
      if (!signalled.insert(process.pid).second) continue;
      ::kill(process.pid, signal);
      is_anybody_new = signal == SIGKILL;
    }
  }
}

}  // namespace

ExecServer::ExecServer(process::EventLoop& loop, const PodSpec& pod, FindRunning find_running)
    : loop_(loop), pod_(pod), find_running_(std::move(find_running)) {}

ExecServer::~ExecServer() {
  if (listener_) loop_.Unwatch(listener_.get());
  while (!execs_.empty()) Forget(execs_.begin()->first);
}

base::Status ExecServer::Listen() {
  TRY_ASSIGN(listener_, ListenForExecs());
  return loop_.Watch(listener_.get(), EPOLLIN, [this](uint32_t) { Accept(); });
}

void ExecServer::Accept() {
  base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || !IsOwnPeer(socket.get())) return;
  if (execs_.size() >= kMaxConnections) return;
  const int id = next_id_++;
  Exec& exec = execs_[id];
  exec.socket = std::move(socket);
  const base::Status watched =
      loop_.Watch(exec.socket.get(), EPOLLIN, [this, id](uint32_t) { OnMessage(id); });
  if (!watched) Forget(id);
}

// A request, or the end of the connection.
void ExecServer::OnMessage(int id) {
  Exec& exec = execs_.at(id);
  auto request = ReceiveRequest(exec.socket.get());
  if (!request && request.error().code == base::Code::kUnavailable) return;
  if (!request || !*request || exec.pid != -1) return HangUp(id);
  Begin(exec, std::move(**request));
}

void ExecServer::Begin(Exec& exec, ExecRequest request) {
  exec.container = request.container;
  const auto pid = Start(request);
  ExecReply reply;
  if (pid) {
    exec.pid = *pid;
    exec.is_running = true;
  } else {
    reply = {ExecReply::Kind::kRefused, pid.error().message};
  }
  // If the daemon has gone, the end of the connection will show it.
  (void)SendReply(exec.socket.get(), reply);
}

base::Result<pid_t> ExecServer::Start(const ExecRequest& request) const {
  const auto running = std::count_if(execs_.begin(), execs_.end(),
                                     [](const auto& entry) { return entry.second.is_running; });
  if (static_cast<size_t>(running) >= kMaxExecs) {
    return base::Fail(base::Code::kExhausted,
                      fmt::format("the pod already runs {} such commands", running));
  }
  const ContainerSpec* const container = find_running_(request.container);
  if (container == nullptr) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("container not found (\"{}\")", request.container));
  }
  process::SpawnOptions options;
  options.argv = request.argv;
  options.env = ContainerEnvironment(pod_, *container);
  const bool has_term = std::any_of(options.env.begin(), options.env.end(),
                                    [](const auto& entry) { return entry.starts_with("TERM="); });
  // As container runtimes do.
  if (request.has_terminal && !has_term) options.env.emplace_back("TERM=xterm");
  if (!container->podman_name.empty()) {
    options.argv = PodmanExec(container->podman_name, request.has_terminal, request.argv);
  }
  TRY_ASSIGN(options.path, process::FindProgram(options.argv[0], process::PathOf(options.env)));
  options.cwd = container->cwd.empty() ? "/" : container->cwd;
  for (int target = 0; target < 3; ++target) {
    const size_t source = request.has_terminal ? 0 : static_cast<size_t>(target);
    options.fds.push_back({request.fds[source].get(), target});
  }
  options.group = process::SpawnOptions::Group::kSession;
  options.has_terminal = request.has_terminal;
  options.dies_with_parent = true;
  options.umask = pod_.umask;
  options.cgroup = container->cgroup;
  options.rights = RightsHere(container->rights);
  return process::Spawn(options);
}

void ExecServer::OnExit(pid_t pid, int wait_status) {
  for (auto& [id, exec] : execs_) {
    if (!exec.is_running || exec.pid != pid) continue;
    exec.is_running = false;
    if (!exec.socket) return;  // the rest of its session may run until the timer
    (void)SendReply(exec.socket.get(),
                    {ExecReply::Kind::kEnded, "", DescribeEnd(wait_status, false).exit_code});
    return Forget(id);
  }
}

void ExecServer::ContainerEnded(std::string_view container) {
  for (const auto& [id, exec] : execs_) {
    if (exec.container == container && exec.pid != -1) SignalSession(exec.pid, SIGKILL);
  }
}

void ExecServer::HangUp(int id) {
  Exec& exec = execs_.at(id);
  if (!exec.is_running) return Forget(id);
  loop_.Unwatch(exec.socket.get());
  exec.socket.Reset();
  // As when a terminal's line is cut. A stopped process has to continue to receive it.
  SignalSession(exec.pid, SIGHUP);
  SignalSession(exec.pid, SIGCONT);
  exec.kill_timer = loop_.After(kHangUpGrace, [this, id] {
    SignalSession(execs_.at(id).pid, SIGKILL);
    Forget(id);
  });
}

void ExecServer::Forget(int id) {
  Exec& exec = execs_.at(id);
  if (exec.socket) loop_.Unwatch(exec.socket.get());
  loop_.Cancel(exec.kill_timer);
  execs_.erase(id);
}

}  // namespace local::node
