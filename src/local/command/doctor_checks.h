// The checks of `doctor`. Each says what it found, and what to do when that is not enough.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "cluster/client.h"

namespace local::command {

struct Finding {
  // kPoor: jobs run, but something is missing; kBad: jobs will fail.
  enum class State { kGood, kPoor, kBad };
  State state = State::kGood;
  std::string name;    // "shm"
  std::string text;    // what was found
  std::string advice;  // what to do; "" with kGood
};

// Checks this machine: folders, namespaces, cgroups, GPUs, shared memory, limits, programs, the
// host's name.
std::vector<Finding> CheckMachine(const base::Environment& environment);

// Checks the Python that jobs get, its torch, and whether gloo can open a connection. Runs it for
// up to a minute.
Finding CheckPython(const base::Environment& environment);

// Checks a Kubernetes cluster: whether it answers, has the kind PyTorchJob, and lets this user
// create one in the namespace. Creates nothing: the request is a dry run.
std::vector<Finding> CheckKubernetes(cluster::Client& client, const std::string& namespace_name);

}  // namespace local::command
