// The node agent: this machine as a node, its pods as processes. It keeps the Node object, starts
// what is bound to the node, reports how it goes, and clears up. It may die at any moment: the next
// one adopts what runs.
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
  std::string configured_python;  // local.python; pods that name one themselves have that
  LauncherPath launcher;          // what the pods' torchrun is
  bool has_podman = false;        // local.images: podman
  CgroupPlace cgroups;            // FindCgroupPlace(): where pods' limits may be the kernel's
  std::chrono::milliseconds restart_backoff{10'000};
  std::chrono::milliseconds shim_answer = NodeFacts().shim_answer;
  size_t start_threads = 8;  // shims that are started at once
  uint64_t log_limit = 0;    // bytes; 0 is no limit
  std::string socket;        // the daemon's; "" is told to no pod
  // Any thread. An error leaves what it was asked about alone.
  std::function<base::Result<Fate>(const std::string& uid)> fate_of;
};

// Every method from any thread.
class Agent {
 public:
  // Everything is borrowed and outlives it. Starts its threads.
  static base::Result<std::unique_ptr<Agent>> Start(cluster::Client& client, ShimLauncher& shims,
                                                    GpuAllocator& gpus, PortAllocator& ports,
                                                    LostAndFound& lost, base::Clock& clock,
                                                    AgentOptions options);
  ~Agent();  // stops the agent, not the pods

  // The allocator has its inventory: the Node says so, and pods that wait for a GPU look again.
  void GpusAreKnown();
  // The job's object is gone: its synchronised code goes with its last pod.
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
  // Of Secrets, ConfigMaps and claims, from the first time that a pod waits for one.
  std::map<const api::Resource*, std::unique_ptr<cluster::Reflector>> object_reflectors_;
  std::thread thread_;
};

}  // namespace local::node
