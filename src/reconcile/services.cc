#include "reconcile/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "api/names.h"
#include "api/pod.h"
#include "reconcile/pod/pod_template.h"
#include "reconcile/pods.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

constexpr size_t kLongestName = 63;

void AddPort(std::string_view name, int64_t number, std::set<int64_t>& seen, text::Array& ports) {
  if (!seen.insert(number).second) return;
  text::Object port;
  port["name"] = name;
  port["port"] = number;
  ports.emplace_back(std::move(port));
}

}  // namespace

text::Array ServicePorts(const text::Json& pod_template, std::optional<int> assigned) {
  const text::Json* const container = api::MainContainer(pod_template);
  text::Array ports;
  if (container == nullptr) return ports;
  const text::Array& declared = text::Items(*container, {"ports"});
  std::set<int64_t> seen;
  // Named ports come first: if two have the same number, the named one is kept.
  for (const text::Json& port : declared) {
    const std::string_view name = text::GetString(port, {"name"});
    if (name.empty()) continue;
    const auto number = name == api::kPortName ? JobPort(pod_template, assigned)
                                               : text::GetInt(port, {"containerPort"});
    if (number) AddPort(name, *number, seen, ports);
  }
  for (const text::Json& port : declared) {
    const auto number = text::GetInt(port, {"containerPort"});
    if (!number || !text::GetString(port, {"name"}).empty()) continue;
    AddPort(fmt::format("port-{}", *number), *number, seen, ports);
  }
  return ports;
}

text::Json BuildService(const JobState& state, const Replicas& replicas, int index) {
  text::Object metadata;
  metadata["name"] = api::ReplicaName(state.job.name, replicas.type, index);
  metadata["namespace"] = state.job.namespace_name;
  metadata["labels"] = ReplicaLabels(state.job, replicas.label, index);
  metadata["ownerReferences"] = OwnerReferences(state.job);
  text::Object spec;
  spec["clusterIP"] = "None";
  spec["selector"] = ReplicaLabels(state.job, replicas.label, index);
  spec["ports"] = ServicePorts(replicas.spec->template_json, state.observed.master_port);
  text::Object service{{"apiVersion", "v1"}, {"kind", "Service"}};
  service["metadata"] = std::move(metadata);
  service["spec"] = std::move(spec);
  return service;
}

int32_t NameableServices(const JobState& state, const Replicas& replicas) {
  const size_t without_index = api::ReplicaName(state.job.name, replicas.type, 0).size() - 1;
  if (without_index >= kLongestName) return 0;
  int64_t nameable = 1;
  for (size_t length = without_index; length < kLongestName && nameable < replicas.Wanted();
       ++length) {
    nameable *= 10;
  }
  return static_cast<int32_t>(std::min<int64_t>(nameable, replicas.Wanted()));
}

std::optional<std::string> FindNamelessRank0(const JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    if (replicas->Wanted() < 1 || NameableServices(state, *replicas) > 0) continue;
    const std::string name = api::ReplicaName(state.job.name, replicas->type, 0);
    return fmt::format(
        "PyTorchJob {} is failed because its Service {} would have a name of {} characters, and "
        "{} are possible: a job's name may have {}.",
        state.job.name, name, name.size(), kLongestName,
        kLongestName - (name.size() - state.job.name.size()));
  }
  return std::nullopt;
}

}  // namespace reconcile
