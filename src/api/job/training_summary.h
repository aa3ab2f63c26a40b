// What Arena's list and get show of a job, computed from the job and its pods (compat/arena.md 4).
// Pure: the embedded server, the command line and the dashboard share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/job/failure_cause.h"
#include "api/pod.h"
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
  int restarts = 0;      // in place, of all its containers
  std::string last_end;  // how it ended before its last restart: "OOMKilled", "exit code 1"; "" if
                         // it was never restarted
  std::string waits;     // why it does not run yet, or not again; "" if it runs or has ended, and
                         // if its status does not say
};

struct TrainingSummary {
  std::string uid;
  std::string name;
  std::string namespace_name;
  std::string status;  // SUCCEEDED, FAILED, RUNNING, QUEUING, SUSPENDED, PENDING
  std::string reason;  // why it is PENDING or FAILED, or what stalls it, in one line; "" when
                       // neither
  // Set for a FAILED job when its pods, or its reason, show which replica failed first.
  FailedReplica first_failure;
  std::string last_lines;  // of that replica's log, as far as the cluster has kept them outside of
                           // the log
  base::Time created{};
  std::optional<base::Time> start_time;
  std::optional<base::Time> completion_time;
  base::Duration duration{};
  std::string priority;  // "N/A" when unset
  std::string chief_name;
  std::string chief_host_ip;  // "N/A" without a chief, or while it is Pending
  double requested_gpus = 0;
  double allocated_gpus = 0;
  // Master first, then workers by index; in a FAILED job the one that failed first precedes them.
  std::vector<InstanceSummary> instances;
  std::string trainer = "pytorchjob";  // the job's kind, in lower case
};

// The finalizers that hold a job that is deleted until somebody removes them: "x.io/a, y.io/b".
std::string NamesOfFinalizers(const text::Json& job);
// Says so of a job that is being deleted and has any, else "".
std::string WhyStillThere(const text::Json& job);

// "pt-master-0 exited with code 1, starts again (restart 1)": for a container with a last end that
// is started in its pod for the `restart`th time after the first. A sidecar is named.
std::string DescribeRestart(const text::Json& pod, const ContainerStatus& status, int64_t restart);
// "OOMKilled", "exit code 1"
std::string DescribeLastEnd(const Terminated& ended);

// In the message of Created: separates its own text from the API server's, while the server refuses
// to create a pod or service of the job.
inline constexpr std::string_view kRefusedMark = " Refused: ";

// Arena shows both as PENDING.
constexpr bool IsWaiting(std::string_view status) {
  return status == "PENDING" || status == "SUSPENDED";
}

// By its conditions: Succeeded or Failed.
bool IsJobFinished(const text::Json& job);
constexpr bool IsFinished(std::string_view status) {
  return status == "SUCCEEDED" || status == "FAILED";
}

TrainingSummary Summarize(const text::Json& job, const std::vector<const text::Json*>& pods,
                          base::Time now);

// The same without the reason, the last lines and the instances: what a table of jobs shows.
TrainingSummary Outline(const text::Json& job, const std::vector<const text::Json*>& pods,
                        base::Time now);

// kubectl's STATUS column of a pod: Init:0/1, ContainerCreating, Completed, Error, OOMKilled,
// CrashLoopBackOff, Terminating, ...
std::string PodStatusText(const text::Json& pod);

// Whether a pod belongs to the job: by label release or training.kubeflow.org/job-name, by a
// controller label of either operator (compat/arena.md 4), and by its owner.
bool IsPodOfJob(const text::Json& pod, const text::Json& job);

// The fields of a pod and of a job that those functions read, including all labels.
const text::Projection& SummarizedParts();
const text::Projection& SummarizedJobParts();
// The fields of a pod that Outline and IsPodOfJob read.
const text::Projection& OutlinedParts();

// Name of a list format that holds only those fields, for clients that accept it by this name
// ("application/json;as=TrainingSummary;g=muster.dev;v=v1"). The embedded server knows it; other
// servers send whole objects. Null: the resource has no such format.
inline constexpr std::string_view kSummaryForm = "TrainingSummary";
const text::Projection* SummaryFormParts(const Resource& resource);

}  // namespace api
