// The shim: one small process per pod that owns its stdout and stderr, runs its containers, reaps
// them and records how they ended. It outlives the daemon (`kill -9` included); the pod does not
// outlive it. On disk, in the pod's directory:
//
//   shim.json                  pid, start time (clock ticks since boot), boot id of the shim
//   lock                       flock'ed as long as the shim lives
//   status.json                PodReport; fsync'ed when a container ends
//   logs/<container>/<n>.log   CRI format, n counts restarts
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "local/node/plan/pod_spec.h"

namespace local::node {

// Variable of every process of a pod: where `muster` in it finds the daemon that runs it.
inline constexpr std::string_view kSocketVariable = "MUSTER_SOCKET";

// A running shim of this or an earlier daemon.
class ShimHandle {
 public:
  ShimHandle(pid_t pid, base::Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid() const { return pid_; }
  // Readable when the shim has ended.
  int pidfd() const { return pidfd_.get(); }
  // SIGTERM to every process of the pod, SIGKILL after `grace`; the shim reports and ends, even if
  // somebody had stopped it. Returns at once.
  base::Status Terminate(std::chrono::seconds grace);
  // SIGKILL to the shim and what it has started; what is left then, KillStrays finds. Nothing
  // reports. Returns at once.
  base::Status Kill();

 private:
  pid_t pid_;
  base::Fd pidfd_;
};

// Starts `<executable> shim` for `spec`. The shim keeps `locks` open as long as it lives (GPU and
// port locks). It is not a child in need of reaping: it is double-forked. Returns when the shim has
// taken its lock and written shim.json; the pod's processes start right after.
base::Result<ShimHandle> StartShim(const std::string& executable, const PodSpec& spec,
                                   const std::vector<int>& locks);

// The shim that still runs in `directory`, verified by lock, boot id and start time; nullopt when
// there is none any more.
base::Result<std::optional<ShimHandle>> AdoptShim(const std::string& directory);

// Whether the directory's shim belongs to an earlier boot of the machine.
bool IsFromEarlierBoot(const std::string& directory);

// kNotFound before the first report.
base::Result<PodReport> ReadReport(const std::string& directory);

// SIGKILLs every process of the pod (pod_processes.h), until none is left. `directory`: the pod's,
// whose last report names its sessions.
base::Status KillStrays(const std::string& directory, std::string_view pod_uid);

// `muster shim`: reads the PodSpec from fd 3 as JSON, runs the pod, returns the exit status.
int ShimMain();

}  // namespace local::node
