// The node agent: this machine as a node, its pods as processes. It maintains the Node object,
// starts the pods bound to the node, reports their status, and cleans up after them. It may die at
// any moment: the next agent adopts the running pods.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "local/node/agent/lost_and_found.h"
#include "local/node/agent/node.h"
#include "local/node/agent/pods.h"
#include "local/node/agent/pool.h"
#include "local/node/agent/shims.h"
#include "local/node/agent/starter.h"
#include "local/node/agent/writer.h"
#include "process/event_loop.h"

namespace local::node {

struct AgentOptions {
  std::string state_directory;  // pods/<uid>, jobs/<uid>/code, python/
  Machine machine;              // DescribeMachine()
  base::Environment environment;
  std::string configured_python;  // local.python; overridden by pods that name an interpreter
  LauncherPath launcher;          // the torchrun of the pods
  bool has_podman = false;        // local.images: podman
  CgroupPlace cgroups;            // FindCgroupPlace(): where the kernel can enforce the pods'
                                  // limits
  std::chrono::milliseconds restart_backoff{10'000};
  std::chrono::milliseconds shim_answer = NodeFacts().shim_answer;
  size_t start_threads = 8;  // shims that may be starting at once
  uint64_t log_limit = 0;    // bytes; 0: no limit
  std::string socket;        // the daemon's, for the pods; "": they get none
  StatusEndpoint status;
  // Called from any thread. On an error, the pod in question is left alone.
  std::function<base::Result<Fate>(const std::string& uid)> fate_of;
};

// Callable from any thread.
class Agent {
 public:
  // Starts its threads. Everything is borrowed and must outlive the agent.
  static base::Result<std::unique_ptr<Agent>> Start(cluster::Client& client, ShimLauncher& shims,
                                                    GpuAllocator& gpus, PortAllocator& ports,
                                                    LostAndFound& lost, base::Clock& clock,
                                                    AgentOptions options);
  ~Agent();  // stops the agent, not the pods

  // The allocator has its inventory: updates the Node, and pods that wait for a GPU try again.
  void GpusAreKnown();
  // The job's object is deleted: its synchronised code is removed with its last pod.
  void JobGone(const std::string& job_uid);

 private:
  Agent(cluster::Client& client, ShimLauncher& shims, GpuAllocator& gpus, PortAllocator& ports,
        LostAndFound& lost, base::Clock& clock, AgentOptions options,
        std::unique_ptr<process::EventLoop> loop);
  void ReflectPods();
  void ReflectObjects(const api::Resource& resource);
  void WriteNode();

  cluster::Client& client_;
  GpuAllocator& gpus_;
  base::Clock& clock_;
  const AgentOptions options_;
  std::unique_ptr<process::EventLoop> loop_;
  PodStarter starter_;
  std::unique_ptr<StatusWriter> writer_;
  std::unique_ptr<WorkPool> pool_;
  PodKeeper keeper_;
  std::unique_ptr<cluster::Reflector> pod_reflector_;
  // Watches Secrets, ConfigMaps and claims, each kind from the first time that a pod waits for one.
  std::map<const api::Resource*, std::unique_ptr<cluster::Reflector>> object_reflectors_;
  std::thread thread_;
};

}  // namespace local::node
