// What `doctor` looks at. Each check says what is there, and what to do where it is not enough.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "cluster/client.h"

namespace local::command {

struct Finding {
  // kPoor: jobs run, and something will be missed; kBad: jobs will fail.
  enum class State { kGood, kPoor, kBad };
  State state = State::kGood;
  std::string name;    // "shm"
  std::string text;    // what is there
  std::string advice;  // what to do; "" with kGood
};

// Of this machine: folders, namespaces, cgroups, GPUs, shared memory, limits, programs, the name of
// the host.
std::vector<Finding> CheckMachine(const base::Environment& environment);

// The Python that jobs get, its torch, and whether gloo can open a connection. Starts it, for up to
// a minute.
Finding CheckPython(const base::Environment& environment);

// A Kubernetes cluster: whether it answers, has the kind PyTorchJob, and lets this user make one in
// the namespace. Makes nothing: the request is a dry run.
std::vector<Finding> CheckKubernetes(cluster::Client& client, const std::string& namespace_name);

}  // namespace local::command
