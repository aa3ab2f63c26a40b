// From a Pod to what its shim is told. Pure: the objects that the pod names have been fetched, and
// what is to be made on disk is only named.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/environment.h"
#include "gpu/vendor.h"
#include "local/node/agent/objects.h"
#include "local/node/devices/node_ports.h"
#include "local/node/plan/image_map.h"
#include "local/node/plan/launcher_path.h"
#include "local/node/plan/pod_spec.h"
#include "local/node/plan/volumes.h"
#include "local/node/shim/cgroup.h"
#include "text/json.h"

namespace local::node {

inline constexpr std::string_view kHostIp = "127.0.0.1";

// What translation knows of the machine and the daemon.
struct NodeFacts {
  std::string node_name;
  std::string state_directory;  // pods/<uid>, jobs/<uid>
  int cpus = 1;
  int64_t memory = 0;
  uid_t user = 0;  // the daemon's
  bool has_gpus = false;
  const gpu::Vendor* gpu_vendor = &gpu::kNvidia;
  CgroupPlace cgroups;
  base::Environment environment;  // the daemon's own; the pod's annotation goes before it
  LauncherPath launcher;
  bool has_podman = false;  // local.images: containers run in their images
  std::chrono::milliseconds restart_backoff{10'000};
  // What a shim has to end its pod beyond the pod's grace: longer than it waits for processes that
  // SIGKILL does not end (tests shorten it).
  std::chrono::milliseconds shim_answer{15'000};
  uint64_t log_limit = 0;  // PodSpec's
  std::string socket;      // the daemon's; "" is told to no pod
};

// What of the machine has been found or set aside for the pod.
struct PodGrants {
  std::vector<std::string> visible_gpus;  // gpu::Unit::visible of the units that it holds
  std::string interpreter_directory;      // to be put first on PATH; may be ""
  std::string interpreter;                // that the record notes; "" is none
  // What `tensorboard` stands for, where a container of the pod runs it (tensorboard.h).
  std::vector<std::string> tensorboard;
  std::map<int, NodePort> node_ports;  // by the pod's port
  ImageMap images;                     // which directories stand for which
};

struct PodPlan {
  PodSpec spec;
  VolumePlan volumes;
};

// Of the pod's annotation muster.dev/environment; empty when it has none or a malformed one.
base::Environment SubmittedEnvironment(const text::Json& pod);
// PATH without the interpreter: the submitter's, else the daemon's, else the usual one.
std::string PodPath(const text::Json& pod, const NodeFacts& facts);

std::string PodDirectory(const NodeFacts& facts, std::string_view pod_uid);
std::string JobDirectory(const NodeFacts& facts, std::string_view job_uid);
// uid of the job that the pod belongs to: its controller, unless the pod says another; "" of none.
std::string JobUidOf(const text::Json& pod);

// `is_there`: whether a path of the host exists.
OrNotReady<PodPlan> PlanPod(const text::Json& pod, const PodObjects& objects,
                            const NodeFacts& facts, const PodGrants& grants,
                            const std::function<bool(const std::string&)>& is_there);

}  // namespace local::node
