// The gang scheduler of one machine: a pure function from the waiting and running gangs to the
// gangs that may start now. No I/O, no clock, no state: local/daemon/scheduling/scheduling.h is the
// loop that calls it.
//
// GPUs are strict: none is assigned twice, and a gang starts with all that it requests or not at
// all. CPU and memory are soft: they only order gangs that are otherwise equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace local::scheduler {

struct Requests {
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  int64_t memory = 0;  // bytes

  Requests& operator+=(const Requests& other);
};

// One GPU, or one MIG instance, identified everywhere by its index in Node::gpus.
struct Gpu {
  // Another program of this machine holds its lock: it is in use for an unknown time.
  bool is_locked_elsewhere = false;
  std::string holder{};  // who holds it then, as text; may be ""
};

struct Node {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory = 0;
  std::vector<Gpu> gpus;
  // False until discovery has finished: gangs that need a GPU wait without a verdict.
  bool are_gpus_known = true;
  bool is_cordoned = false;                     // no pod may start: `kubectl cordon`
  std::string no_gpu_reason;                    // why there are none, in one line; may be empty
  std::string gpu_resource = "nvidia.com/gpu";  // what pods call them
};

struct Pod {
  std::string uid;
  std::string name;
  Requests requests;
  bool is_bound = false;  // runs or is about to; pods that have ended are not listed
  std::vector<int> gpus;  // the indices that it holds, when bound
};

// A job, or a pod that belongs to no job.
struct Gang {
  std::string key;  // "<namespace>/<job>", as in messages
  int32_t priority = 0;
  base::Time created{};
  std::vector<Pod> pods;  // that exist and have not ended
  // Pods that the job is entitled to and that do not exist now: not created yet, or ended and about
  // to be recreated. A started gang keeps their GPUs.
  Requests missing;
  int missing_pods = 0;
  // It has run already: missing pods are being recreated, and get the gang's GPUs first.
  bool is_started = false;
  // How many pods must start together; nullopt: all of them.
  std::optional<int> min_available;
  // How long it may be active, and since when it has been, counting its wait in the queue.
  std::optional<base::Duration> active_deadline;
  std::optional<base::Time> active_since;
  // Since when its programs have been running; nullopt while they do not. For forecasts.
  std::optional<base::Time> running_since;
};

// What to do about a wish for GPUs that the machine can never fulfil.
enum class GpuPolicy {
  kStrict,    // the gang waits, with a message
  kOptional,  // the gang runs without GPUs
  kAuto,      // strict on a machine that has a GPU, optional on one without
};

struct Binding {
  std::string pod_uid;
  std::vector<int> gpus;  // indices, ascending
};

struct Waiting {
  std::string gang;
  std::vector<std::string> pod_uids;
  // In the style of kube-scheduler; "" while there is nothing to report yet (pods are still being
  // created, GPUs still being discovered).
  std::string message;
  bool wants_locked_gpu = false;  // may start once a GPU that another program has locked is free
};

// A gang that runs although its wish for GPUs is ignored.
struct Warning {
  std::string gang;
  std::string message;
};

struct Decision {
  std::vector<Binding> bindings;  // grouped by gang; those of a gang must be written together
  std::vector<Waiting> waiting;
  std::vector<Warning> warnings;
};

// Order: started gangs, then by priority (higher first), age, key. Backfill: behind a waiting head
// a gang starts only if it cannot delay the head, in whatever order the running gangs end, or if
// its own deadline ends before the head is certain to start.
Decision Schedule(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy,
                  base::Time now);

}  // namespace local::scheduler
