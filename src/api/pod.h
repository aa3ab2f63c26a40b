// Accessors for Pods.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "text/document.h"
#include "text/json.h"

namespace api {

// status.phase: Pending (also when unset), Running, Succeeded, Failed, Unknown.
std::string_view Phase(const text::Json& pod);
// Succeeded or Failed.
bool IsPodFinished(const text::Json& pod);

// Reduces a pod that has ended to its metadata without annotations, status.phase and startTime;
// leaves other pods alone. The result must never be written back.
void TrimFinishedPod(text::Json& pod);
// Parses a pod's text and reduces it in that way: nothing else of a pod that has ended is ever in
// memory.
base::Result<text::Json> ReadUnfinishedPod(const text::Document& pod);
// Whether the condition Ready is True.
bool IsPodReady(const text::Json& pod);
std::string_view NodeName(const text::Json& pod);          // "" while it is not bound
std::string_view PriorityClass(const text::Json& pod);     // of a pod or a pod template; "": unset
std::string_view PodRestartPolicy(const text::Json& pod);  // "Always" when unset

// What asked a pod to stop while its program was running: an eviction (`kubectl drain`), a
// preemption, a taint, or the node itself.
struct Disruption {
  std::string_view reason;   // "EvictionByEvictionAPI", "PreemptionByScheduler", ...
  std::string_view message;  // "Eviction API: evicting"
  std::optional<base::Time> at;
};
// Read from a condition of a pod that is being deleted or has failed. Nullopt when its program had
// ended before.
std::optional<Disruption> DisruptionOf(const text::Json& pod);
// The condition DisruptionTarget, or Volcano's equivalent: Ready with the reason Evict. nullptr
// when there is none.
const text::Json* DisruptionCondition(const text::Json& pod);
// "was evicted (Eviction API: evicting)"
std::string DescribeDisruption(const Disruption& disruption);

struct Terminated {
  int exit_code = 0;
  int signal = 0;  // 0 unless the runtime reports it; most report only the exit code 128 + signal
  std::string_view reason;
  std::string_view message;
  std::optional<base::Time> started;
  std::optional<base::Time> finished;
};

// One entry of status.containerStatuses; views into the pod.
struct ContainerStatus {
  std::string_view name;
  bool is_ready = false;
  bool has_started = false;  // `started`
  int restart_count = 0;
  bool is_waiting = false;
  std::string_view waiting_reason;
  std::string_view waiting_message;
  bool is_running = false;
  std::optional<base::Time> running_since;
  std::optional<Terminated> terminated;
  std::optional<Terminated> last_terminated;  // lastState
};
std::vector<ContainerStatus> ContainerStatuses(const text::Json& pod);
std::vector<ContainerStatus> InitContainerStatuses(const text::Json& pod);
// Whether the init container of that name does not end before the pod's other containers start.
bool IsSidecar(const text::Json& pod, std::string_view init_container);

// Exit code of the container of that name; nullopt when it has not terminated.
std::optional<int> ExitCodeOf(const text::Json& pod, std::string_view container);
// Restarts of all containers and init containers.
int RestartCount(const text::Json& pod);

// The resources that a pod requests from a node.
struct ResourceRequest {
  int64_t gpus = 0;  // nvidia.com/gpu
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::map<std::string, int64_t> devices;  // other extended resources, "amd.com/gpu"

  ResourceRequest& operator+=(const ResourceRequest& other);
  // Raises each value to that of `other` if that is greater.
  void RaiseTo(const ResourceRequest& other);
  bool operator==(const ResourceRequest&) const = default;
};

// The request of a pod or a pod template as the Kubernetes scheduler computes it: the sum over
// containers and sidecars, at least what any init container needs, with limits in place of missing
// requests, plus the overhead. Quantities that do not parse count as zero.
ResourceRequest PodRequest(const text::Json& pod);
// The training's container of a pod or a pod template: the one named `pytorch`, otherwise the
// first; nullptr without containers.
const text::Json* MainContainer(const text::Json& pod);
text::Json* MainContainer(text::Json& pod);
// Whether a status of ContainerStatuses is that container's.
bool IsOfTraining(const text::Json& pod, const ContainerStatus& status);
// That container's status; nullopt while there is none.
std::optional<ContainerStatus> StatusOfTraining(const text::Json& pod);
// The value of kUmaskAnnotation: "0027", octal; nullopt when malformed.
std::optional<mode_t> ParseUmask(std::string_view text);
// The environment of the user who submitted a job or pod, from api::kEnvironmentAnnotation; empty
// if it is absent or malformed.
base::Environment SubmittedEnvironment(const text::Json& object);
// Sum over containers of limits[resource] in whole units.
int64_t SumOfLimits(const text::Json& pod, std::string_view resource);

}  // namespace api
