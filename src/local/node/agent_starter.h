// Everything between a bound pod and its running shim: fetch what it names, take its locks, make
// its directories, start.
#pragma once

#include <memory>
#include <string>

#include "cluster/client.h"
#include "local/node/agent_pod.h"
#include "local/node/agent_shims.h"
#include "local/node/gpu.h"
#include "local/node/interpreter.h"
#include "local/node/ports.h"

namespace local::node {

// Thread safe; blocks for as long as a shim takes to start.
class PodStarter {
 public:
  // All borrowed. `configured_python`: local.python, "" when unset; the pod's annotation wins.
  PodStarter(cluster::Client& client, ShimLauncher& shims, GpuAllocator& gpus, PortAllocator& ports,
             NodeFacts facts, std::string configured_python);

  OrNotReady<std::unique_ptr<RunningShim>> Start(const text::Json& pod);

  const NodeFacts& facts() const { return facts_; }

 private:
  OrNotReady<PodObjects> Fetch(const text::Json& pod);
  OrNotReady<std::vector<std::string>> VisibleGpus(const text::Json& pod);
  OrNotReady<std::vector<base::Fd>> TakeLocks(const text::Json& pod);
  OrNotReady<std::string> InterpreterDirectory(const text::Json& pod);

  cluster::Client& client_;
  ShimLauncher& shims_;
  GpuAllocator& gpus_;
  PortAllocator& ports_;
  const NodeFacts facts_;
  const std::string configured_python_;
};

// Makes and checks what the plan names.
OrNotReady<void> MakeVolumes(const VolumePlan& plan);

}  // namespace local::node
