#include <algorithm>

#include "api/job/pytorch_job.h"
#include "api/names.h"
#include "api/pod.h"
#include "base/strings.h"

namespace api {
namespace {

// Renames `master` or `WORKER` to the name that the operator knows.
void RenameReplicaType(PyTorchJob& job, std::string_view type) {
  const auto misspelt =
      std::find_if(job.replica_specs.begin(), job.replica_specs.end(), [type](const auto& entry) {
        return entry.first != type && base::EqualsIgnoreCase(entry.first, type);
      });
  if (misspelt == job.replica_specs.end()) return;
  auto node = job.replica_specs.extract(misspelt);
  job.replica_specs.insert_or_assign(std::string(type), std::move(node.mapped()));
}

void AddPort(text::Json& pod_template) {
  text::Json* const container = MainContainer(pod_template);
  if (container == nullptr || !container->is_object()) return;
  text::Json& ports = text::Ensure(*container, {"ports"});
  if (!ports.is_array()) ports.emplace_array();
  if (text::ItemNamed(ports, {}, kPortName) != nullptr) return;
  ports.get_array().push_back({{"name", kPortName}, {"containerPort", kDefaultPort}});
}

void SetElasticDefaults(PyTorchJob& job) {
  ElasticPolicy& elastic = *job.elastic_policy;
  if (elastic.min_replicas && elastic.max_replicas) return;
  if (elastic.max_replicas) {
    elastic.min_replicas = elastic.max_replicas;
  } else if (elastic.min_replicas) {
    elastic.max_replicas = elastic.min_replicas;
  } else if (const ReplicaSpec* const worker = job.Worker()) {
    elastic.min_replicas = elastic.max_replicas = worker->Replicas();
  }
}

}  // namespace

void SetDefaults(PyTorchJob& job) {
  if (!job.run_policy.clean_pod_policy) job.run_policy.clean_pod_policy = "None";
  RenameReplicaType(job, kMaster);
  RenameReplicaType(job, kWorker);
  for (auto& [type, spec] : job.replica_specs) {
    if (!spec.replicas) spec.replicas = 1;
    if (spec.restart_policy.empty()) spec.restart_policy = "OnFailure";
    AddPort(spec.template_json);
  }
  if (job.elastic_policy) SetElasticDefaults(job);
  const bool has_old_nproc = job.elastic_policy && job.elastic_policy->nproc_per_node;
  if (!job.nproc_per_node && !has_old_nproc) job.nproc_per_node = "auto";
}

}  // namespace api
