#include "api/job/pytorch_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/field_reader.h"
#include "api/names.h"

namespace api {
namespace {

void ReadStrings(const FieldReader& reader, std::map<std::string, std::string>& out) {
  if (!reader) return;
  for (const auto& [key, value] : *reader.object()) {
    if (auto written = reader.String(key)) out.emplace(key, *std::move(written));
  }
}

ReplicaSpec ReadReplicaSpec(const FieldReader& reader) {
  ReplicaSpec spec;
  spec.replicas = reader.Int32("replicas");
  spec.restart_policy = reader.StringOr("restartPolicy", "");
  spec.template_json = text::Object();
  if (const FieldReader pod_template = reader.Object("template")) {
    spec.template_json = *pod_template.object();
  }
  return spec;
}

std::vector<std::pair<std::string, std::string>> ReadRdzvConf(const FieldReader& elastic) {
  std::vector<std::pair<std::string, std::string>> conf;
  const text::Array* const entries = elastic.Array("rdzvConf");
  if (entries == nullptr) return conf;
  for (size_t i = 0; i < entries->size(); ++i) {
    const FieldReader entry = elastic.Entry((*entries)[i], "rdzvConf", fmt::to_string(i));
    conf.emplace_back(entry.StringOr("key", ""), entry.StringOr("value", ""));
  }
  return conf;
}

std::optional<ElasticPolicy> ReadElasticPolicy(const FieldReader& reader) {
  if (!reader) return std::nullopt;
  ElasticPolicy elastic;
  elastic.min_replicas = reader.Int32("minReplicas");
  elastic.max_replicas = reader.Int32("maxReplicas");
  elastic.rdzv_backend = reader.StringOr("rdzvBackend", "");
  elastic.rdzv_port = reader.Int32("rdzvPort");
  elastic.rdzv_host = reader.StringOr("rdzvHost", "");
  elastic.rdzv_id = reader.StringOr("rdzvId", "");
  elastic.rdzv_conf = ReadRdzvConf(reader);
  elastic.standalone = reader.Bool("standalone").value_or(false);
  elastic.nproc_per_node = reader.Int32("nProcPerNode");
  elastic.max_restarts = reader.Int32("maxRestarts");
  if (const text::Array* const metrics = reader.Array("metrics")) elastic.metrics = *metrics;
  return elastic;
}

std::optional<SchedulingPolicy> ReadSchedulingPolicy(const FieldReader& reader) {
  if (!reader) return std::nullopt;
  SchedulingPolicy policy;
  policy.min_available = reader.Int32("minAvailable");
  policy.queue = reader.StringOr("queue", "");
  if (const FieldReader resources = reader.Object("minResources")) {
    policy.min_resources = *resources.object();
  }
  policy.priority_class = reader.StringOr("priorityClass", "");
  policy.schedule_timeout_seconds = reader.Int32("scheduleTimeoutSeconds");
  return policy;
}

RunPolicy ReadRunPolicy(const FieldReader& reader) {
  RunPolicy policy;
  policy.clean_pod_policy = reader.String("cleanPodPolicy");
  policy.ttl_seconds_after_finished = reader.Int32("ttlSecondsAfterFinished");
  policy.active_deadline_seconds = reader.Int64("activeDeadlineSeconds");
  policy.backoff_limit = reader.Int32("backoffLimit");
  policy.suspend = reader.Bool("suspend").value_or(false);
  policy.managed_by = reader.String("managedBy");
  policy.scheduling_policy = ReadSchedulingPolicy(reader.Object("schedulingPolicy"));
  return policy;
}

void ReadMetadata(const FieldReader& metadata, PyTorchJob& job) {
  job.name = metadata.StringOr("name", "");
  job.namespace_name = metadata.StringOr("namespace", "");
  job.uid = metadata.StringOr("uid", "");
  job.resource_version = metadata.StringOr("resourceVersion", "");
  job.is_deleting = metadata.Find("deletionTimestamp") != nullptr;
  ReadStrings(metadata.Object("labels"), job.labels);
  ReadStrings(metadata.Object("annotations"), job.annotations);
}

void ReadSpec(const FieldReader& spec, PyTorchJob& job) {
  if (const FieldReader replicas = spec.Object("pytorchReplicaSpecs")) {
    for (const auto& [type, value] : *replicas.object()) {
      if (value.is_null()) continue;
      job.replica_specs.emplace(type,
                                ReadReplicaSpec(spec.Entry(value, "pytorchReplicaSpecs", type)));
    }
  }
  job.nproc_per_node = spec.String("nprocPerNode");
  job.elastic_policy = ReadElasticPolicy(spec.Object("elasticPolicy"));
  job.run_policy = ReadRunPolicy(spec.Object("runPolicy"));
}

}  // namespace

RestartPolicy ReplicaSpec::Policy() const {
  static_assert(kRestartPolicies.size() == static_cast<size_t>(RestartPolicy::kUnknown));
  if (restart_policy.empty()) return RestartPolicy::kOnFailure;
  const auto name = std::find(kRestartPolicies.begin(), kRestartPolicies.end(), restart_policy);
  return static_cast<RestartPolicy>(name - kRestartPolicies.begin());
}

CleanPodPolicy RunPolicy::Clean() const {
  if (!clean_pod_policy || *clean_pod_policy == "None") return CleanPodPolicy::kNone;
  if (*clean_pod_policy == "Running") return CleanPodPolicy::kRunning;
  if (*clean_pod_policy == "All") return CleanPodPolicy::kAll;
  return CleanPodPolicy::kUnknown;
}

const ReplicaSpec* PyTorchJob::Master() const {
  const auto found = replica_specs.find(std::string(kMaster));
  return found != replica_specs.end() ? &found->second : nullptr;
}

const ReplicaSpec* PyTorchJob::Worker() const {
  const auto found = replica_specs.find(std::string(kWorker));
  return found != replica_specs.end() ? &found->second : nullptr;
}

int32_t PyTorchJob::TotalReplicas() const {
  int32_t total = 0;
  for (const auto& [type, spec] : replica_specs) total += spec.Replicas();
  return total;
}

base::Result<PyTorchJob> ParsePyTorchJob(const text::Json& object) {
  std::string error;
  const FieldReader root(&object, "", &error);
  PyTorchJob job;
  ReadMetadata(root.Object("metadata"), job);
  ReadSpec(root.Object("spec"), job);
  if (!error.empty()) return base::Fail(base::Code::kInvalidArgument, std::move(error));
  if (const text::Json* const status = root.Find("status")) {
    TRY_ASSIGN(job.status, ParseJobStatus(*status));
  }
  return job;
}

}  // namespace api
