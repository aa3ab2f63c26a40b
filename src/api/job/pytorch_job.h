// PyTorchJob (kubeflow.org/v1) as typed values: what the reconciler decides on. Pod templates stay
// JSON, so that unknown fields survive (compat/pytorchjob.md 1).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/unknown_fields.h"
#include "base/clock.h"
#include "base/result.h"
#include "text/json.h"

namespace api {

enum class RestartPolicy { kAlways, kOnFailure, kNever, kExitCode, kUnknown };
// The names of all but kUnknown, in that order.
inline constexpr std::array<std::string_view, 4> kRestartPolicies = {"Always", "OnFailure", "Never",
                                                                     "ExitCode"};
enum class CleanPodPolicy { kNone, kRunning, kAll, kUnknown };

struct ReplicaSpec {
  std::optional<int32_t> replicas;
  std::string restart_policy;  // as written; "": unset
  text::Json template_json;    // core/v1 PodTemplateSpec, untouched

  int32_t Replicas() const { return replicas.value_or(1); }
  RestartPolicy Policy() const;  // "": OnFailure
};

struct ElasticPolicy {
  std::optional<int32_t> min_replicas;
  std::optional<int32_t> max_replicas;
  std::string rdzv_backend;
  std::optional<int32_t> rdzv_port;
  std::string rdzv_host;
  std::string rdzv_id;
  std::vector<std::pair<std::string, std::string>> rdzv_conf;
  bool standalone = false;
  std::optional<int32_t> nproc_per_node;  // deprecated
  std::optional<int32_t> max_restarts;
  std::optional<text::Json> metrics;  // []autoscaling/v2 MetricSpec
};

struct SchedulingPolicy {
  std::optional<int32_t> min_available;
  std::string queue;
  std::optional<text::Json> min_resources;
  std::string priority_class;
  std::optional<int32_t> schedule_timeout_seconds;
};

struct RunPolicy {
  std::optional<std::string> clean_pod_policy;
  std::optional<int32_t> ttl_seconds_after_finished;
  std::optional<int64_t> active_deadline_seconds;
  std::optional<int32_t> backoff_limit;
  bool suspend = false;
  std::optional<std::string> managed_by;
  std::optional<SchedulingPolicy> scheduling_policy;

  CleanPodPolicy Clean() const;  // unset: kNone
};

struct Condition {
  std::string type;    // Created, Running, Restarting, Succeeded, Failed, Suspended
  std::string status;  // "True", "False"
  std::string reason;
  std::string message;
  std::optional<base::Time> last_update_time;
  std::optional<base::Time> last_transition_time;
};

struct ReplicaStatus {
  int32_t active = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
  std::string selector;

  bool operator==(const ReplicaStatus&) const = default;
};

struct JobStatus {
  std::vector<Condition> conditions;  // sorted by last change: the order is part of the contract
                                      // (1.1)
  std::map<std::string, ReplicaStatus> replica_statuses;
  std::optional<base::Time> start_time;
  std::optional<base::Time> completion_time;
  std::optional<base::Time> last_reconcile_time;
  text::Object unknown;  // fields of the stored status that this struct does not have

  // Whether the status has a condition of `type` with status "True".
  bool Is(std::string_view type) const;
  const Condition* Find(std::string_view type) const;
  bool IsFinished() const { return Is("Succeeded") || Is("Failed"); }
};

struct PyTorchJob {
  std::string name;
  std::string namespace_name;
  std::string uid;
  std::string resource_version;
  bool is_deleting = false;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::map<std::string, ReplicaSpec> replica_specs;  // keys as written
  std::optional<std::string> nproc_per_node;
  std::optional<ElasticPolicy> elastic_policy;
  RunPolicy run_policy;
  JobStatus status;

  const ReplicaSpec* Master() const;
  const ReplicaSpec* Worker() const;
  int32_t TotalReplicas() const;
};

// Checks types but not values; validation is a separate step. kInvalidArgument names the field.
base::Result<PyTorchJob> ParsePyTorchJob(const text::Json& object);
base::Result<JobStatus> ParseJobStatus(const text::Json& status);
// As the API server stores it: without zero counts and unset times.
text::Json StatusToJson(const JobStatus& status);

// In memory only, as the operator does at every reconciliation (1.4).
void SetDefaults(PyTorchJob& job);

// What the CRD's schema does to an object before it is stored, and before the checks below: removes
// nulls, sets spec.runPolicy.suspend to false in a runPolicy without it, and the protocol of ports
// to TCP.
void ApplySchemaDefaults(text::Json& object);

struct Validation {
  std::vector<std::string> errors;  // the texts of 1.5, in the same order, without the webhook's
                                    // prefix
  std::vector<std::string> warnings;
};
// The webhook's checks. `old` is the stored object for an update, otherwise nullptr; `fields` says
// whether unknown fields of pods are an error, a warning or ignored (unknown_fields.h).
Validation ValidatePyTorchJob(const text::Json& object, const text::Json* old,
                              FieldValidation fields = FieldValidation::kWarn);
// The structural checks of the CRD's schema, which precede the webhook (422). Empty when there are
// no errors, otherwise the causes, each as `field: reason`, for example `spec.pytorchReplicaSpecs:
// Required value`.
std::vector<std::string> CheckPyTorchJobSchema(const text::Json& object, const text::Json* old);
// The same for its status, which is written on its own.
std::vector<std::string> CheckPyTorchJobStatus(const text::Json& object);
// The errors of either check as the API server shows them in one line: `e`, or `[e1, e2]` without
// repetitions.
std::string JoinErrors(const std::vector<std::string>& errors);

}  // namespace api
