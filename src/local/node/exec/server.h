// The shim's side of commands that run beside the pod's own (kubectl exec). They are children of
// the shim, so they have the pod's view of the machine and its user, and end with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "local/node/exec/channel.h"
#include "local/node/pod/pod_spec.h"
#include "process/event_loop.h"

namespace local::node {

// How many may run at once in one pod; more are refused.
inline constexpr size_t kMaxExecs = 64;
// Between SIGHUP and SIGKILL when the requester of a command disconnects.
inline constexpr std::chrono::milliseconds kHangUpGrace{2000};

// Driven by the pod runner in the loop's thread. Borrows everything.
class ExecServer {
 public:
  // The container of that name if its process runs, otherwise nullptr.
  using FindRunning = std::function<const ContainerSpec*(std::string_view)>;

  ExecServer(process::EventLoop& loop, const PodSpec& pod, FindRunning find_running);
  ~ExecServer();

  // Begins to accept commands. Called in the pod's directory.
  base::Status Listen();
  // A child was reaped; ignored unless it is one of these commands.
  void OnExit(pid_t pid, int wait_status);
  // Ends the commands that run in the container.
  void ContainerEnded(std::string_view container);

 private:
  struct Exec {
    std::string container;
    base::Fd socket;  // closed: it was hung up
    pid_t pid = -1;   // leader of its session; -1 before it has started
    bool is_running = false;
    process::EventLoop::TimerId kill_timer = 0;
  };

  void Accept();
  void OnMessage(int id);
  void Begin(Exec& exec, ExecRequest request);
  base::Result<pid_t> Start(const ExecRequest& request) const;
  void HangUp(int id);
  void Forget(int id);

  process::EventLoop& loop_;
  const PodSpec& pod_;
  const FindRunning find_running_;
  base::Fd listener_;
  std::map<int, Exec> execs_;
  int next_id_ = 1;
};

}  // namespace local::node
