// Takes a bound pod to its running shim: fetches the objects it refers to, takes its locks, creates
// its directories and starts the shim.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cluster/client.h"
#include "local/node/agent/shims.h"
#include "local/node/devices/gpu.h"
#include "local/node/devices/ports.h"
#include "local/node/plan/pod.h"
#include "local/node/programs/interpreter.h"

namespace local::node {

// Thread safe; blocks for as long as a shim takes to start.
class PodStarter {
 public:
  // Everything is borrowed. `configured_python`: local.python, "" when unset; the pod's annotation
  // overrides it.
  PodStarter(cluster::Client& client, ShimLauncher& shims, GpuAllocator& gpus, PortAllocator& ports,
             NodeFacts facts, std::string configured_python);

  OrNotReady<std::unique_ptr<RunningShim>> Start(const text::Json& pod);

  const NodeFacts& facts() const { return facts_; }

 private:
  OrNotReady<PodObjects> Fetch(const text::Json& pod);
  OrNotReady<std::vector<std::string>> VisibleGpus(const text::Json& pod);
  OrNotReady<std::map<int, NodePort>> NodePorts(const text::Json& pod);
  OrNotReady<std::vector<base::Fd>> TakeLocks(const text::Json& pod, const PodGrants& grants);
  OrNotReady<base::Fd> LockNodePort(const NodePort& port);
  // What the pod's programs get of Python and TensorBoard.
  OrNotReady<PodGrants> Programs(const text::Json& pod);
  void NoteInterpreter(const text::Json& pod, const std::string& interpreter) const;
  // "" when there is none and none was requested.
  OrNotReady<std::string> Interpreter(const text::Json& pod);
  // The submitter's variables, completed by the daemon's.
  base::Environment EnvironmentOf(const text::Json& pod) const;

  cluster::Client& client_;
  ShimLauncher& shims_;
  GpuAllocator& gpus_;
  PortAllocator& ports_;
  const NodeFacts facts_;
  const std::string configured_python_;
};

// Creates and checks the files of the plan. `owner`: of the files, if not the daemon's user.
OrNotReady<void> MakeVolumes(const VolumePlan& plan, std::optional<uid_t> owner = std::nullopt);

}  // namespace local::node
