#include "reconcile/pod/environment.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "api/names.h"
#include "base/strings.h"
#include "reconcile/pod/pod_template.h"

namespace reconcile {
namespace {

void Add(text::Array& environment, std::string_view name, std::string_view value) {
  text::Object entry;
  entry["name"] = name;
  entry["value"] = value;
  environment.emplace_back(std::move(entry));
}

void Add(text::Array& environment, std::string_view name, int64_t value) {
  Add(environment, name, std::string_view(fmt::format_int(value).c_str()));
}

int64_t CountNodes(const api::PyTorchJob& job) {
  int64_t nodes = 0;
  for (const api::ReplicaSpec* const spec : {job.Master(), job.Worker()}) {
    if (spec != nullptr) nodes += spec->Replicas();
  }
  return nodes;
}

// Only torchrun knows the values `auto`, `cpu` and `gpu`: they count as one process here.
int64_t ProcessesPerNode(const api::PyTorchJob& job) {
  if (!job.nproc_per_node) return 1;
  return base::ParseInt(*job.nproc_per_node).value_or(1);
}

void AddMaster(const api::PyTorchJob& job, std::string_view type, int index,
               std::optional<int> master_port, text::Array& environment) {
  const int port = JobPort(job.Master()->template_json, master_port);
  const std::string address = api::ReplicaName(job.name, api::kMaster, 0);
  const int rank = type == api::kMaster ? index : index + 1;
  Add(environment, "MASTER_PORT", port);
  Add(environment, "PET_MASTER_PORT", port);
  Add(environment, "MASTER_ADDR", address);
  Add(environment, "PET_MASTER_ADDR", address);
  Add(environment, "WORLD_SIZE", CountNodes(job) * ProcessesPerNode(job));
  Add(environment, "RANK", rank);
  Add(environment, "PET_NODE_RANK", rank);
}

std::string RendezvousEndpoint(const api::PyTorchJob& job, std::optional<int> master_port) {
  const api::ElasticPolicy& elastic = *job.elastic_policy;
  const std::string host =
      elastic.rdzv_host.empty() ? api::ReplicaName(job.name, api::kWorker, 0) : elastic.rdzv_host;
  if (elastic.rdzv_port) return fmt::format("{}:{}", host, *elastic.rdzv_port);
  const api::ReplicaSpec* const worker = job.Worker();
  const text::Json none;
  return fmt::format("{}:{}", host,
                     JobPort(worker != nullptr ? worker->template_json : none, master_port));
}

}  // namespace

text::Array Environment(const api::PyTorchJob& job, std::string_view type, int index,
                        std::optional<int> master_port) {
  text::Array environment;
  environment.reserve(16);
  Add(environment, "PYTHONUNBUFFERED", "1");
  if (job.Master() != nullptr) AddMaster(job, type, index, master_port, environment);
  if (job.nproc_per_node) Add(environment, "PET_NPROC_PER_NODE", *job.nproc_per_node);
  if (!job.elastic_policy) {
    Add(environment, "PET_NNODES", CountNodes(job));
    return environment;
  }
  for (text::Json& entry : ElasticEnvironment(job, master_port)) {
    environment.push_back(std::move(entry));
  }
  return environment;
}

text::Array EnvironmentBefore(const api::PyTorchJob& job, const text::Json& template_spec) {
  text::Array environment;
  if (!job.uid.empty()) Add(environment, "MUSTER_RDZV_TOKEN", job.uid);
  const auto grace = text::GetInt(template_spec, {"terminationGracePeriodSeconds"});
  if (grace) Add(environment, "MUSTER_GRACE", *grace);
  return environment;
}

text::Array ElasticEnvironment(const api::PyTorchJob& job, std::optional<int> master_port) {
  text::Array environment;
  if (!job.elastic_policy) return environment;
  const api::ElasticPolicy& elastic = *job.elastic_policy;
  Add(environment, "PET_RDZV_ENDPOINT", RendezvousEndpoint(job, master_port));
  Add(environment, "PET_RDZV_BACKEND",
      elastic.rdzv_backend.empty() ? std::string_view("c10d") : elastic.rdzv_backend);
  if (elastic.min_replicas && elastic.max_replicas) {
    Add(environment, "PET_NNODES",
        fmt::format("{}:{}", *elastic.min_replicas, *elastic.max_replicas));
  }
  if (elastic.max_restarts) Add(environment, "PET_MAX_RESTARTS", *elastic.max_restarts);
  if (elastic.nproc_per_node) Add(environment, "PET_NPROC_PER_NODE", *elastic.nproc_per_node);
  if (!elastic.rdzv_id.empty()) Add(environment, "PET_RDZV_ID", elastic.rdzv_id);
  if (!elastic.rdzv_conf.empty()) {
    std::string conf;
    for (const auto& [key, value] : elastic.rdzv_conf) {
      conf += fmt::format("{}{}={}", conf.empty() ? "" : ",", key, value);
    }
    Add(environment, "PET_RDZV_CONF", conf);
  }
  if (elastic.standalone) Add(environment, "PET_STANDALONE", "");
  return environment;
}

}  // namespace reconcile
