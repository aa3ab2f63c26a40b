// From a Pod to what its shim is told. Pure: the objects that the pod names have been fetched, and
// what is to be made on disk is only named.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "local/node/agent_objects.h"
#include "local/node/agent_volumes.h"
#include "local/node/pod_spec.h"
#include "text/json.h"

namespace local::node {

inline constexpr std::string_view kHostIp = "127.0.0.1";

// What translation knows of the machine and the daemon.
struct NodeFacts {
  std::string node_name;
  std::string state_directory;  // pods/<uid>, jobs/<uid>
  int cpus = 1;
  int64_t memory = 0;
  bool has_gpus = false;
  base::Environment environment;  // the daemon's own; the pod's annotation goes before it
  std::chrono::milliseconds restart_backoff{10'000};
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

// `visible_gpus`: what CUDA_VISIBLE_DEVICES calls the units that the pod holds.
// `interpreter_directory`: to be put first on PATH; may be "".
// `is_there`: whether a path of the host exists.
OrNotReady<PodPlan> PlanPod(const text::Json& pod, const PodObjects& objects,
                            const NodeFacts& facts, const std::vector<std::string>& visible_gpus,
                            const std::string& interpreter_directory,
                            const std::function<bool(const std::string&)>& is_there);

}  // namespace local::node
