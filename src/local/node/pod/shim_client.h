// The shim: a small process for each pod that owns its stdout and stderr, runs its containers,
// reaps them and records how they ended. It outlives the daemon (even `kill -9`); the pod does not
// outlive it. Files in the pod's directory:
//
//   shim.json                  pid, start time (clock ticks since boot), boot id of the shim
//   lock                       flock'ed while the shim lives
//   status.json                PodReport; fsync'ed when a container ends
//   logs/<container>/<n>.log   CRI format, n counts restarts
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

// A variable of every process of a pod: where a `muster` in the pod finds the daemon that runs it.
inline constexpr std::string_view kSocketVariable = "MUSTER_SOCKET";

// A running shim, started by this or an earlier daemon.
class ShimHandle {
 public:
  ShimHandle(pid_t pid, base::Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid() const { return pid_; }
  // Readable once the shim has ended.
  int pidfd() const { return pidfd_.get(); }
  // SIGTERM to the processes in the sessions of the containers and to orphans, SIGKILL to all of
  // the pod after `grace`; the shim then reports and ends, even if it was stopped. Returns at once.
  base::Status Terminate(std::chrono::seconds grace);
  // SIGKILL to the shim and its descendants; KillStrays finds the remaining processes. There is no
  // report. Returns at once.
  base::Status Kill();

 private:
  pid_t pid_;
  base::Fd pidfd_;
};

// Starts `<executable> shim` for `spec`. The shim keeps `locks` (of GPUs and ports) open while it
// lives. It is double-forked, so it is not a child to be reaped. Returns when the shim has taken
// its lock and written shim.json; the pod's processes start right after.
base::Result<ShimHandle> StartShim(const std::string& executable, const PodSpec& spec,
                                   const std::vector<int>& locks);

// The shim that still runs in `directory`, verified by lock, boot id and start time; nullopt when
// it has ended.
base::Result<std::optional<ShimHandle>> AdoptShim(const std::string& directory);

// Adds whole lines to the log of the pod's training container, soon after it returns; not if that
// has ended meanwhile. kNotFound when the shim has ended.
base::Status AddToLog(const std::string& directory, std::string_view lines);

// Whether the shim of the directory belongs to an earlier boot of the machine.
bool IsFromEarlierBoot(const std::string& directory);

// kNotFound before the first report.
base::Result<PodReport> ReadReport(const std::string& directory);

// SIGKILLs every process of the pod (pod_processes.h) until none is left. `directory` is the pod's;
// its last report names the sessions.
base::Status KillStrays(const std::string& directory, std::string_view pod_uid);

}  // namespace local::node
