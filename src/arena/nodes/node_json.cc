// What `top node` reports to programs about each node. Arena's Python SDK fails without the names
// `allocation` (of shared GPUs), `gpuIndex` and `status` (of a measured GPU).
#include "arena/nodes/node_output.h"

namespace arena {
namespace {

// Leaves whole numbers without a decimal point, as Go prints a float64.
text::Json Value(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? text::Json(whole) : text::Json(value);
}

text::Json Amounts(const std::map<std::string, int64_t>& amounts) {
  text::Object object;
  for (const auto& [id, amount] : amounts) object[id] = amount;
  return object;
}

text::Json Strings(const std::vector<std::string>& strings) {
  text::Array array;
  for (const std::string& string : strings) array.emplace_back(string);
  return array;
}

std::string_view UseText(bool is_used) { return is_used ? "using" : "idle"; }

text::Json InstancesOf(const NodeUse& node) {
  text::Array instances;
  for (const NodeInstance& instance : node.instances) {
    text::Object object{{"name", instance.name},
                        {"namespace", instance.namespace_name},
                        {"status", instance.status}};
    if (node.kind == NodeKind::kShare) {
      object["requestGPUMemory"] = instance.requested_memory;
      object["requestGPUCore"] = instance.requested_core;
      object["allocation"] = Amounts(instance.memory);
      object["gpuMemoryAllocation"] = Amounts(instance.memory);
      object["gpuCoreAllocation"] = Amounts(instance.core);
    } else {
      object["requestGPUs"] = instance.requested_gpus;
    }
    if (node.kind == NodeKind::kTopology) {
      object["allocation"] = Strings(instance.allocation);
      object["visibleGPUs"] = Strings(instance.visible);
    }
    instances.push_back(std::move(object));
  }
  return instances;
}

void AddCommon(const NodeUse& node, text::Object& object) {
  object["name"] = node.name;
  object["description"] = DescriptionOf(node);
  object["ip"] = node.address;
  object["status"] = NodeStatus(node);
  object["role"] = node.role == "<none>" ? "" : node.role;
  object["type"] = TypeOf(node.kind);
}

void AddCounts(const NodeUse& node, text::Object& object) {
  object["totalGPUs"] = Value(node.total_gpus);
  object["allocatedGPUs"] = Value(node.allocated_gpus);
  object["unhealthyGPUs"] = Value(node.unhealthy_gpus);
  text::Array metrics;
  for (const GpuMetric& metric : node.metrics) {
    text::Array pods;
    if (!metric.pod.empty()) pods.emplace_back(metric.pod_namespace + "/" + metric.pod);
    metrics.push_back(text::Object{{"id", metric.id},
                                   {"uuid", metric.uuid},
                                   {"status", UseText(!metric.pod.empty())},
                                   {"gpuDutyCycle", Value(metric.duty_cycle.value_or(0))},
                                   {"usedGPUMemory", Value(metric.memory_used.value_or(0))},
                                   {"totalGPUMemory", Value(metric.memory_total.value_or(0))},
                                   {"podNames", std::move(pods)}});
  }
  object["gpuMetrics"] = std::move(metrics);
}

text::Json ShareToJson(const NodeUse& node) {
  text::Array devices;
  for (const NodeDevice& device : node.devices) {
    devices.push_back(text::Object{{"id", device.id},
                                   {"totalGPUMemory", Value(device.total_memory)},
                                   {"allocatedGPUMemory", Value(device.allocated_memory)},
                                   {"totalGPUCore", device.total_core},
                                   {"allocatedGPUCore", device.allocated_core}});
  }
  text::Object object{{"instances", InstancesOf(node)},
                      {"totalGPUMemory", Value(node.total_memory)},
                      {"allocatedGPUMemory", Value(node.allocated_memory)},
                      {"totalGPUCore", node.total_core},
                      {"allocatedGPUCore", node.allocated_core},
                      {"devices", std::move(devices)}};
  AddCounts(node, object);
  AddCommon(node, object);
  return object;
}

text::Json TopologyToJson(const NodeUse& node) {
  text::Array devices;
  for (const NodeDevice& device : node.devices) {
    devices.push_back(text::Object{{"id", device.id},
                                   {"gpuIndex", device.id},
                                   {"healthy", device.is_healthy},
                                   {"status", UseText(device.is_used)}});
  }
  text::Object object{{"instances", InstancesOf(node)},
                      {"gpuTopology", text::Object{{"linkMatrix", node.links},
                                                   {"bandwidthMatrix", node.bandwidths}}}};
  AddCounts(node, object);
  AddCommon(node, object);
  object["devices"] = std::move(devices);
  return object;
}

text::Json NodeToJson(const NodeUse& node) {
  text::Object object;
  switch (node.kind) {
    case NodeKind::kShare:
      return ShareToJson(node);
    case NodeKind::kTopology:
      return TopologyToJson(node);
    case NodeKind::kNormal:
      AddCommon(node, object);
      return object;
    case NodeKind::kExclusive:
      break;
  }
  object["instances"] = InstancesOf(node);
  AddCommon(node, object);
  AddCounts(node, object);
  return object;
}

}  // namespace

text::Json NodesToJson(const std::vector<NodeUse>& nodes) {
  const auto of_kind = [&](NodeKind kind) {
    text::Array array;
    for (const NodeUse& node : nodes) {
      if (node.kind == kind) array.push_back(NodeToJson(node));
    }
    return array;
  };
  return text::Object{{"gpuExclusiveNodes", of_kind(NodeKind::kExclusive)},
                      {"gpuShareNodes", of_kind(NodeKind::kShare)},
                      {"gpuTopologyNodes", of_kind(NodeKind::kTopology)},
                      {"normalNodes", of_kind(NodeKind::kNormal)}};
}

}  // namespace arena
