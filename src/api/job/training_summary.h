// What Arena's list and get say of a job, computed from the job and its pods (compat/arena.md 4).
// Pure: the embedded server, the command line and the dashboard share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/job/failure_cause.h"
#include "api/resources.h"
#include "base/clock.h"
#include "text/json.h"
#include "text/projection.h"

namespace api {

struct InstanceSummary {
  std::string name;
  std::string status;  // kubectl's STATUS column
  std::string node;    // node name, "N/A" while Pending
  std::string node_ip;
  std::string pod_ip;
  bool is_chief = false;
  double requested_gpus = 0;
  base::Time created{};
  base::Duration age{};
};

struct TrainingSummary {
  std::string uid;
  std::string name;
  std::string namespace_name;
  std::string status;  // SUCCEEDED, FAILED, RUNNING, QUEUING, SUSPENDED, PENDING
  std::string reason;  // why it is PENDING or FAILED, or who holds it up, one line; "" when there
                       // is nothing to say
  // Of a FAILED job whose pods, or whose reason, tell which replica failed first.
  FailedReplica first_failure;
  std::string last_lines;  // of its log, as far as the cluster has kept them outside of it
  base::Time created{};
  std::optional<base::Time> start_time;
  std::optional<base::Time> completion_time;
  base::Duration duration{};
  std::string priority;  // "N/A" when unset
  std::string chief_name;
  std::string chief_host_ip;  // "N/A" without a chief, or while it is Pending
  double requested_gpus = 0;
  double allocated_gpus = 0;
  // Master first, then workers by index; of a FAILED job the one that failed first before all.
  std::vector<InstanceSummary> instances;
  std::string trainer = "pytorchjob";  // the job's kind, in lower case
};

// Between a Created's own message and what the API server said when it refused to make a pod or
// service of the job, as long as it does.
inline constexpr std::string_view kRefusedMark = " Refused: ";

// Arena has one word for both.
constexpr bool IsWaiting(std::string_view status) {
  return status == "PENDING" || status == "SUSPENDED";
}

constexpr bool IsFinished(std::string_view status) {
  return status == "SUCCEEDED" || status == "FAILED";
}

TrainingSummary Summarize(const text::Json& job, const std::vector<const text::Json*>& pods,
                          base::Time now);

// The same less the reason, the last lines and the instances: what a table of jobs says.
TrainingSummary Outline(const text::Json& job, const std::vector<const text::Json*>& pods,
                        base::Time now);

// kubectl's STATUS column of a pod: Init:0/1, ContainerCreating, Completed, Error, OOMKilled,
// CrashLoopBackOff, Terminating, ...
std::string PodStatusText(const text::Json& pod);

// Whether a pod belongs to the job: by label release or training.kubeflow.org/job-name, and by a
// controller label of either operator (compat/arena.md 4).
bool IsPodOfJob(const text::Json& pod, const text::Json& job);

// What those read of a pod, and of a job; with all of its labels.
const text::Projection& SummarizedParts();
const text::Projection& SummarizedJobParts();
// What Outline and IsPodOfJob read of a pod.
const text::Projection& OutlinedParts();

// A list of objects that hold those parts alone, for clients that accept it by this name
// ("application/json;as=TrainingSummary;g=muster.dev;v=v1"). The embedded server knows it; others
// send whole objects. Null: the resource has no such form.
inline constexpr std::string_view kSummaryForm = "TrainingSummary";
const text::Projection* SummaryFormParts(const Resource& resource);

}  // namespace api
