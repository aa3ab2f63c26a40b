#include "arena/nodes/nodes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "api/gpus.h"
#include "api/job/training_summary.h"
#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr std::string_view kTopologyGpu = "aliyun.com/gpu";
constexpr std::string_view kShareMemory = "aliyun.com/gpu-mem";
constexpr std::string_view kShareCore = "aliyun.com/gpu-core.percentage";
constexpr std::string_view kShareCount = "aliyun.com/gpu-count";
constexpr std::string_view kTopologyLabel = "ack.node.gpu.schedule";
// A larger value is not a number of GPUs; Arena treats the node as one without GPUs.
constexpr int64_t kMostExclusiveGpus = 100;

int64_t AmountIn(const text::Json& node, std::string_view where, std::string_view resource) {
  const text::Json* quantity = text::Find(node, {"status", where, resource});
  if (quantity == nullptr) return 0;
  if (const int64_t* number = quantity->if_int64()) return *number;
  return base::ParseQuantity(text::GetString(*quantity, {})).value_or(0);
}

std::string AddressOf(const text::Json& node) {
  const text::Array& addresses = text::Items(node, {"status", "addresses"});
  return addresses.empty() ? "unknown" : std::string(text::GetString(addresses[0], {"address"}));
}

const text::Json* TopologyOf(std::string_view node, const std::vector<text::Json>& topologies) {
  for (const text::Json& topology : topologies) {
    if (api::Label(topology, "nodename") == node) return &topology;
  }
  return nullptr;
}

NodeKind KindOf(const text::Json& node, bool has_topology) {
  if (AmountIn(node, "allocatable", kShareMemory) > 0) return NodeKind::kShare;
  if (has_topology && api::Label(node, kTopologyLabel) == "topology") return NodeKind::kTopology;
  const int64_t gpus = AmountIn(node, "allocatable", api::GpuResourceOf(node));
  return gpus > 0 && gpus <= kMostExclusiveGpus ? NodeKind::kExclusive : NodeKind::kNormal;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts = base::Split(text, ',');
  std::erase(parts, "");
  return parts;
}

// {"0": {"1": 3}}: by container, by device.
std::map<std::string, int64_t> AllocationOf(const text::Json& pod, std::string_view annotation) {
  std::map<std::string, int64_t> allocation;
  const auto written = text::ParseJson(api::Annotation(pod, annotation));
  if (!written || !written->is_object()) return allocation;
  for (const auto& [container, devices] : written->as_object()) {
    if (!devices.is_object()) continue;
    for (const auto& [device, amount] : devices.as_object()) {
      if (const int64_t* number = amount.if_int64()) allocation[std::string(device)] += *number;
    }
  }
  return allocation;
}

// Nullopt when the pod asks for none of what the node's kind has.
std::optional<NodeInstance> InstanceOf(const text::Json& pod, NodeKind kind) {
  NodeInstance instance;
  instance.namespace_name = api::Namespace(pod);
  instance.name = api::Name(pod);
  instance.status = api::PodStatusText(pod);
  instance.is_running = api::Phase(pod) == "Running";
  switch (kind) {
    case NodeKind::kNormal:
      return std::nullopt;
    case NodeKind::kExclusive:
      instance.requested_gpus = api::SumOfGpuLimits(pod);
      break;
    case NodeKind::kTopology:
      instance.requested_gpus = api::SumOfLimits(pod, kTopologyGpu);
      instance.allocation = SplitList(api::Annotation(pod, "topology.kubernetes.io/gpu-group"));
      instance.visible = SplitList(api::Annotation(pod, "topology.kubernetes.io/gpu-visible"));
      break;
    case NodeKind::kShare:
      instance.requested_memory = api::SumOfLimits(pod, kShareMemory);
      instance.requested_core = api::SumOfLimits(pod, kShareCore);
      instance.memory = AllocationOf(pod, "scheduler.framework.gpushare.allocation");
      instance.core = AllocationOf(pod, "gpushare.alibabacloud.com/core-percentage");
      if (const std::string_view device = api::Annotation(pod, "ALIYUN_COM_GPU_MEM_IDX");
          instance.memory.empty() && !device.empty()) {
        instance.memory[std::string(device)] = instance.requested_memory;
      }
      return instance.memory.empty() && instance.core.empty() ? std::nullopt
                                                              : std::optional(instance);
  }
  return instance.requested_gpus > 0 ? std::optional(instance) : std::nullopt;
}

void CountExclusive(const text::Json& node, std::string_view resource, NodeUse& use) {
  use.total_gpus =
      static_cast<double>(use.metrics.empty() ? AmountIn(node, "capacity", resource)
                                              : static_cast<int64_t>(use.metrics.size()));
  for (const NodeInstance& instance : use.instances) {
    use.allocated_gpus += static_cast<double>(instance.requested_gpus);
  }
  use.unhealthy_gpus =
      use.total_gpus - static_cast<double>(AmountIn(node, "allocatable", resource));
}

void CountTopology(const text::Json& topology, NodeUse& use) {
  std::set<std::string> used;
  for (const NodeInstance& instance : use.instances) {
    used.insert(instance.allocation.begin(), instance.allocation.end());
  }
  const auto parse = [&](std::string_view key) {
    auto value = text::ParseJson(text::GetString(topology, {"data", key}));
    return value ? std::move(*value) : text::Json();
  };
  const text::Json health = parse("devices");
  if (const text::Object* devices = health.if_object()) {
    for (const auto& [id, state] : *devices) {
      NodeDevice& device = use.devices.emplace_back();
      device.id = id;
      device.is_healthy = text::GetString(state, {}) == "Healthy";
      device.is_used = used.contains(device.id);
    }
  }
  if (text::Json links = parse("linkType"); links.is_array()) use.links = links.as_array();
  // So spelled by the device plugin that writes it.
  if (text::Json rows = parse("bandwith"); rows.is_array()) use.bandwidths = rows.as_array();
}

NodeDevice& DeviceOf(NodeUse& use, const std::string& id, double memory, int64_t core) {
  for (NodeDevice& device : use.devices) {
    if (device.id == id) return device;
  }
  NodeDevice& device = use.devices.emplace_back();
  device.id = id;
  device.total_memory = memory;
  device.total_core = core;
  return device;
}

void CountShare(const text::Json& node, NodeUse& use) {
  const int64_t count = use.metrics.empty() ? AmountIn(node, "capacity", kShareCount)
                                            : static_cast<int64_t>(use.metrics.size());
  const int64_t capacity = AmountIn(node, "capacity", kShareMemory);
  use.total_gpus = static_cast<double>(count);
  use.total_core = AmountIn(node, "capacity", kShareCore);
  std::map<std::string, double> measured;
  for (const GpuMetric& metric : use.metrics) {
    measured[metric.id] = metric.memory_total.value_or(0);
    use.total_memory += metric.memory_total.value_or(0);
  }
  if (use.total_memory == 0) use.total_memory = static_cast<double>(capacity) * kGibibyte;
  const auto device = [&](const std::string& id) -> NodeDevice& {
    const auto found = measured.find(id);
    const double each = count > 0 ? use.total_memory / static_cast<double>(count) : 0;
    return DeviceOf(use, id, found == measured.end() ? each : found->second,
                    count > 0 ? use.total_core / count : 0);
  };
  for (int64_t i = 0; i < count; ++i) device(std::to_string(i));
  double allocated = 0;
  for (const NodeInstance& instance : use.instances) {
    for (const auto& [id, gibibytes] : instance.memory) {
      const double bytes = static_cast<double>(gibibytes) * kGibibyte;
      NodeDevice& on = device(id);
      on.allocated_memory += bytes;
      use.allocated_memory += bytes;
      if (on.total_memory > 0) allocated += bytes / on.total_memory;
    }
    for (const auto& [id, percent] : instance.core) {
      device(id).allocated_core += percent;
      use.allocated_core += percent;
    }
  }
  use.allocated_gpus = std::round(allocated * 10) / 10;
  const int64_t missing = capacity - AmountIn(node, "allocatable", kShareMemory);
  if (capacity > 0) use.unhealthy_gpus = static_cast<double>(count * missing / capacity);
}

NodeUse Describe(const text::Json& node) {
  NodeUse use;
  use.name = api::Name(node);
  use.address = AddressOf(node);
  use.role = api::NodeRoles(node);
  use.is_schedulable = !api::IsNodeUnschedulable(node);
  use.is_ready = api::IsNodeReady(node);
  if (const text::Json* const ready = api::FindCondition(node, "Ready")) {
    use.is_known = text::GetString(*ready, {"status"}) != "Unknown";
  }
  return use;
}

// Each GPU once, whoever holds it.
std::vector<GpuMetric> MetricsOfNode(const std::vector<GpuMetric>& metrics,
                                     const std::string& node) {
  std::vector<GpuMetric> found;
  for (const GpuMetric& metric : metrics) {
    if (metric.node != node) continue;
    if (found.empty() || found.back().id != metric.id) {
      found.push_back(metric);
    } else if (found.back().pod.empty()) {
      found.back() = metric;
    }
  }
  return found;
}

}  // namespace

std::string_view ModeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNormal:
      return "none";
    case NodeKind::kExclusive:
      return "exclusive";
    case NodeKind::kTopology:
      return "topology";
    case NodeKind::kShare:
      return "share";
  }
  return "";
}

std::string_view TypeOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::kNormal:
      return "Normal";
    case NodeKind::kExclusive:
      return "GPUExclusive";
    case NodeKind::kTopology:
      return "GPUTopology";
    case NodeKind::kShare:
      return "GPUShare";
  }
  return "";
}

std::string_view DescriptionOf(const NodeUse& node) {
  switch (node.kind) {
    case NodeKind::kNormal:
      return "\n  This node has none gpu devices\n";
    case NodeKind::kExclusive:
      return "\n  1.This node is enabled gpu exclusive mode.\n  2.Pods can request resource "
             "'nvidia.com/gpu' to use gpu exclusive feature on this node\n";
    case NodeKind::kTopology:
      return "\n  1.This node is enabled gpu topology mode.\n  2.Pods can request resource "
             "'aliyun.com/gpu' to use gpu topology feature on this node\n";
    case NodeKind::kShare:
      break;
  }
  return node.total_core != 0
             ? "\n  1.This node is enabled gpu sharing mode.\n  2.Pods can request resource "
               "'aliyun.com/gpu-mem' to use gpu sharing feature on this node\n  3.Pods can request "
               "resource 'aliyun.com/gpu-core.percentage' to use gpu sharing feature on this "
               "node\n"
             : "\n  1.This node is enabled gpu sharing mode.\n  2.Pods can request resource "
               "'aliyun.com/gpu-mem' to use gpu sharing feature on this node \n";
}

bool HasTopologyNode(const std::vector<text::Json>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const text::Json& node) {
    return api::Label(node, kTopologyLabel) == "topology";
  });
}

std::vector<NodeUse> CountNodes(const std::vector<text::Json>& nodes,
                                const std::vector<text::Json>& pods,
                                const std::vector<text::Json>& topologies,
                                const std::vector<GpuMetric>& metrics) {
  std::map<std::string, std::vector<const text::Json*>> pods_of;
  for (const text::Json& pod : pods) {
    if (!api::IsPodFinished(pod) && !api::IsDeleting(pod)) {
      pods_of[std::string(api::NodeName(pod))].push_back(&pod);
    }
  }
  std::vector<NodeUse> result;
  for (const text::Json& node : nodes) {
    NodeUse& use = result.emplace_back(Describe(node));
    const text::Json* const topology = TopologyOf(use.name, topologies);
    use.kind = KindOf(node, topology != nullptr);
    use.metrics = MetricsOfNode(metrics, use.name);
    for (const text::Json* pod : pods_of[use.name]) {
      if (auto instance = InstanceOf(*pod, use.kind)) use.instances.push_back(std::move(*instance));
    }
    if (use.kind == NodeKind::kExclusive) CountExclusive(node, api::GpuResourceOf(node), use);
    if (use.kind == NodeKind::kShare) CountShare(node, use);
    if (use.kind == NodeKind::kTopology) {
      CountExclusive(node, kTopologyGpu, use);
      CountTopology(*topology, use);
    }
  }
  return result;
}

}  // namespace arena
