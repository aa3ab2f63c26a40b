// The gang scheduler of one machine: a pure function from what waits and what runs to what may
// start now. No I/O, no clock, no state: the loop that feeds it is
// local/daemon/scheduling/scheduling.h.
//
// GPUs are strict: they are never given twice, and a gang starts with all that it asks for or not
// at all. CPU and memory are soft: they only order gangs that are otherwise equal.
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

// One GPU, or one MIG instance. Its place in Node::gpus is its index everywhere.
struct Gpu {
  // Another program of this machine holds its lock: in use for an unknown time.
  bool is_locked_elsewhere = false;
  std::string holder{};  // whose it is then, in words; may be ""
};

struct Node {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory = 0;
  std::vector<Gpu> gpus;
  // The discovery has not answered yet: who wants a GPU waits without a verdict.
  bool are_gpus_known = true;
  std::string no_gpu_reason;                    // why there are none, one line; may be empty
  std::string gpu_resource = "nvidia.com/gpu";  // what pods call them
};

struct Pod {
  std::string uid;
  std::string name;
  Requests requests;
  bool is_bound = false;  // runs or is about to; pods that ended are not listed at all
  std::vector<int> gpus;  // indices it holds, when bound
};

// A job, or a pod that belongs to none.
struct Gang {
  std::string key;  // "<namespace>/<job>": what messages call it
  int32_t priority = 0;
  base::Time created{};
  std::vector<Pod> pods;  // that exist and have not ended
  // Pods that the job has a right to and that do not exist now: not created yet, or ended and
  // about to be recreated. A started gang keeps their place.
  Requests missing;
  int missing_pods = 0;
  // It has run already: what is missing is recreated, and goes to the gang's place first.
  bool is_started = false;
  // Pods that must start together; nothing: all of them.
  std::optional<int> min_available;
  // How long it may run; and since when it does, if it does.
  std::optional<base::Duration> active_deadline;
  std::optional<base::Time> started_at;
};

// What a machine does with a GPU wish that it can never fulfil.
enum class GpuPolicy {
  kStrict,    // the gang waits and says why
  kOptional,  // the gang runs without
  kAuto,      // strict on a machine that has a GPU, optional on one that has none
};

struct Binding {
  std::string pod_uid;
  std::vector<int> gpus;  // indices, ascending
};

struct Waiting {
  std::string gang;
  std::vector<std::string> pod_uids;
  // In kube-scheduler's manner; "" while there is nothing to say yet (pods still being created,
  // GPUs still being discovered).
  std::string message;
  bool wants_locked_gpu = false;  // might start once a GPU locked elsewhere is free
};

// A gang that runs although its wish for GPUs is ignored.
struct Warning {
  std::string gang;
  std::string message;
};

struct Decision {
  std::vector<Binding> bindings;  // grouped by gang; a gang's are to be written together
  std::vector<Waiting> waiting;
  std::vector<Warning> warnings;
};

// Order: gangs that have started, then by priority (higher first), age, key. Backfill: behind a
// waiting head a gang starts only if the head's start cannot be delayed by it, however the running
// ones end, or if its own deadline ends before the head is sure to start.
Decision Schedule(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy,
                  base::Time now);

}  // namespace local::scheduler
