#include "local/daemon/unmet_wishes.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "gpu/vendor.h"

namespace local::daemon {
namespace {

struct Wishes {
  std::set<std::string> selectors;  // key=value
  std::set<std::string> schedulers;
  std::set<std::string> devices;
  std::set<std::string> gpus, rdma;  // resources
  std::set<std::string> ignored;     // fields of pods that nothing here reads
  bool is_cpu_limited = false;
};

// Resources that every machine has, as opposed to devices.
bool IsPlain(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-") || gpu::IsResource(resource);
}

void CollectResources(const text::Json& container, Wishes& wishes) {
  for (const auto& [resource, amount] : text::Members(container, {"resources", "limits"})) {
    wishes.is_cpu_limited |= resource == "cpu";
    if (gpu::IsResource(resource)) wishes.gpus.emplace(resource);
    if (resource.starts_with("rdma/")) {
      wishes.rdma.emplace(resource);
    } else if (!IsPlain(resource)) {
      wishes.devices.emplace(resource);
    }
  }
}

// What a kubelet or a scheduler of several nodes would do.
constexpr std::array<std::string_view, 5> kIgnoredOfPods = {
    "affinity", "dnsConfig", "hostAliases", "runtimeClassName", "topologySpreadConstraints"};
constexpr std::array<std::string_view, 4> kIgnoredOfContainers = {"lifecycle", "livenessProbe",
                                                                  "readinessProbe", "startupProbe"};

void CollectIgnored(const text::Json& pod, Wishes& wishes) {
  for (const std::string_view field : kIgnoredOfPods) {
    if (text::Find(pod, {"spec", field}) != nullptr) wishes.ignored.emplace(field);
  }
  for (const text::Json& container : text::Items(pod, {"spec", "containers"})) {
    for (const std::string_view field : kIgnoredOfContainers) {
      if (text::Find(container, {field}) != nullptr) wishes.ignored.emplace(field);
    }
  }
}

void SayIgnored(const Wishes& wishes, std::vector<std::string>& unmet) {
  if (wishes.ignored.empty()) return;
  unmet.push_back(fmt::format("{} of the pods: ignored, the embedded cluster has nothing like it",
                              fmt::join(wishes.ignored, ", ")));
}

void CollectReplica(const text::Json& replica, Wishes& wishes) {
  const text::Json* const pod = text::Find(replica, {"template"});
  if (pod == nullptr) return;
  CollectIgnored(*pod, wishes);
  for (const auto& [key, value] : text::Members(*pod, {"spec", "nodeSelector"})) {
    wishes.selectors.insert(
        fmt::format("{}={}", std::string_view(key), text::GetString(value, {})));
  }
  const std::string_view scheduler = text::GetString(*pod, {"spec", "schedulerName"});
  if (!scheduler.empty() && scheduler != "default-scheduler") wishes.schedulers.emplace(scheduler);
  for (const text::Json& container : text::Items(*pod, {"spec", "containers"}))
    CollectResources(container, wishes);
}

std::string Limits(const std::set<std::string>& resources) {
  return fmt::format("resources.limits[{}]", fmt::join(resources, ", "));
}

}  // namespace

int64_t GpusAskedFor(const text::Json& job) {
  int64_t gpus = 0;
  for (const auto& [type, replica] : text::Members(job, {"spec", "pytorchReplicaSpecs"})) {
    const text::Json* const pod = text::Find(replica, {"template"});
    if (pod == nullptr) continue;
    gpus += api::PodRequest(*pod).gpus * text::GetInt(replica, {"replicas"}).value_or(1);
  }
  return gpus;
}

std::vector<std::string> UnmetWishes(const text::Json& job, const Abilities& abilities) {
  Wishes wishes;
  for (const auto& [type, replica] : text::Members(job, {"spec", "pytorchReplicaSpecs"})) {
    CollectReplica(replica, wishes);
  }
  // Only submit's jobs have the label; whoever wrote the object knows its fields, not the flags.
  const bool is_submitted = !api::Label(job, "release").empty();
  const auto name = [&](std::string_view flag, std::string_view field) {
    return std::string(is_submitted ? flag : field);
  };
  std::vector<std::string> unmet;
  const int64_t gpus = GpusAskedFor(job);
  if (gpus > 0 && abilities.why_without_gpus) {
    const std::string why = abilities.why_without_gpus(gpus);
    if (!why.empty()) {
      unmet.push_back(fmt::format("{}: {}", name("--gpus", Limits(wishes.gpus)), why));
    }
  }
  if (!wishes.devices.empty()) {
    unmet.push_back(fmt::format("{} has no effect here: this machine does not assign {}",
                                name("--device", Limits(wishes.devices)),
                                fmt::join(wishes.devices, ", ")));
  }
  if (!wishes.rdma.empty()) {
    unmet.push_back(
        fmt::format("{} has no effect here: this machine does not assign RDMA devices, each pod "
                    "sees all of them",
                    name("--rdma", Limits(wishes.rdma))));
  }
  if (wishes.is_cpu_limited && !abilities.why_cpus_are_unlimited.empty()) {
    unmet.push_back(
        fmt::format("{}: the CPU limit is not enforced, it only sets OMP_NUM_THREADS: {}",
                    name("--cpu", Limits({"cpu"})), abilities.why_cpus_are_unlimited));
  }
  if (!wishes.selectors.empty()) {
    unmet.push_back(fmt::format("{} {} has no effect here: there is only one machine",
                                name("--selector", "template.spec.nodeSelector"),
                                fmt::join(wishes.selectors, ",")));
  }
  if (!wishes.schedulers.empty()) {
    unmet.push_back(fmt::format("{} {} has no effect here: muster's own scheduler places every pod",
                                name("--scheduler", "template.spec.schedulerName"),
                                fmt::join(wishes.schedulers, ",")));
  }
  SayIgnored(wishes, unmet);
  return unmet;
}

std::vector<std::string> IgnoredOfPod(const text::Json& pod) {
  Wishes wishes;
  CollectIgnored(pod, wishes);
  std::vector<std::string> unmet;
  SayIgnored(wishes, unmet);
  return unmet;
}

}  // namespace local::daemon
