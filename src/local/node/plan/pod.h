// Translates a Pod into the specification for its shim. Pure: the objects that the pod refers to
// have been fetched, and files to be created are only listed.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/environment.h"
#include "gpu/vendor.h"
#include "local/node/devices/node_ports.h"
#include "local/node/plan/image_map.h"
#include "local/node/plan/objects.h"
#include "local/node/plan/status_endpoint.h"
#include "local/node/plan/volumes.h"
#include "local/node/pod/cgroup.h"
#include "local/node/pod/pod_spec.h"
#include "local/node/programs/launcher_path.h"
#include "text/json.h"

namespace local::node {

inline constexpr std::string_view kHostIp = "127.0.0.1";

// Facts about the machine and the daemon.
struct NodeFacts {
  std::string node_name;
  std::string state_directory;  // pods/<uid>, jobs/<uid>
  int cpus = 1;
  int64_t memory = 0;
  uid_t user = 0;  // the daemon's
  bool has_gpus = false;
  const gpu::Vendor* gpu_vendor = &gpu::kNvidia;
  CgroupPlace cgroups;
  base::Environment environment;  // the daemon's own; the pod's annotation overrides it
  LauncherPath launcher;
  bool has_podman = false;  // local.images: containers run in their images
  std::chrono::milliseconds restart_backoff{10'000};
  // How long after the grace period a shim may take to end its pod: longer than it waits for
  // processes that survive SIGKILL (tests shorten it).
  std::chrono::milliseconds shim_answer{15'000};
  std::string witness_root;  // PodSpec's, and the next
  uint64_t log_limit = 0;
  std::string socket;  // the daemon's; "": the pod gets none
  StatusEndpoint status;
};

// Resources of the machine that were found or reserved for the pod.
struct PodGrants {
  std::vector<std::string> visible_gpus;  // gpu::Unit::visible of the units that it holds
  std::string interpreter_directory;      // to be put first on PATH; may be ""
  std::string interpreter;                // for the run's record; "": none
  // The command that replaces `tensorboard` in the pod's containers (tensorboard.h).
  std::vector<std::string> tensorboard;
  std::map<int, NodePort> node_ports;  // by the pod's port
  ImageMap images;                     // images that are mapped to directories
};

struct PodPlan {
  PodSpec spec;
  VolumePlan volumes;
};

// PATH without the interpreter: the submitter's, otherwise the daemon's, otherwise a default.
std::string PodPath(const text::Json& pod, const NodeFacts& facts);

std::string PodDirectory(const NodeFacts& facts, std::string_view pod_uid);
std::string JobDirectory(const NodeFacts& facts, std::string_view job_uid);
// uid of the job that the pod belongs to: of its controller, unless an annotation names another;
// "": none.
std::string JobUidOf(const text::Json& pod);

// `is_there` says whether a path exists on the host.
OrNotReady<PodPlan> PlanPod(const text::Json& pod, const PodObjects& objects,
                            const NodeFacts& facts, const PodGrants& grants,
                            const std::function<bool(const std::string&)>& is_there);

}  // namespace local::node
