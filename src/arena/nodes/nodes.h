// Counts the nodes of a cluster and the use of their GPUs as Arena does (compat/arena.md 2.8).
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arena/jobs/gpu_metrics.h"
#include "text/json.h"

namespace arena {

inline constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

// How a node's GPUs are requested. The last one that fits a node applies.
enum class NodeKind {
  kNormal,     // no GPUs
  kExclusive,  // nvidia.com/gpu: whole ones
  kTopology,   // aliyun.com/gpu: whole ones that are close to each other
  kShare,      // aliyun.com/gpu-mem, aliyun.com/gpu-core.percentage: parts of one
};
inline constexpr NodeKind kNodeKinds[] = {NodeKind::kNormal, NodeKind::kExclusive,
                                          NodeKind::kTopology, NodeKind::kShare};

// none, exclusive, topology, share
std::string_view ModeOf(NodeKind kind);
// Normal, GPUExclusive, GPUTopology, GPUShare
std::string_view TypeOf(NodeKind kind);

// A pod that requests its node's kind of GPUs.
struct NodeInstance {
  std::string namespace_name;
  std::string name;
  std::string status;
  bool is_running = false;
  int64_t requested_gpus = 0;
  // Share: GiB and percent, in all and by device.
  int64_t requested_memory = 0;
  int64_t requested_core = 0;
  std::map<std::string, int64_t> memory;
  std::map<std::string, int64_t> core;
  // Topology: the devices.
  std::vector<std::string> allocation;
  std::vector<std::string> visible;
};

struct NodeDevice {
  std::string id;
  // Share, bytes and percent.
  double total_memory = 0;
  double allocated_memory = 0;
  int64_t total_core = 0;
  int64_t allocated_core = 0;
  // Topology
  bool is_healthy = false;
  bool is_used = false;
};

struct NodeUse {
  std::string name;
  std::string address;
  std::string role;  // "<none>" without one
  NodeKind kind = NodeKind::kNormal;
  bool is_ready = false;
  bool is_known = true;  // its Ready condition is not Unknown
  bool is_schedulable = true;
  double total_gpus = 0;
  double allocated_gpus = 0;
  double unhealthy_gpus = 0;
  double total_memory = 0;  // share, bytes
  double allocated_memory = 0;
  int64_t total_core = 0;  // share, percent
  int64_t allocated_core = 0;
  std::vector<NodeInstance> instances;
  std::vector<NodeDevice> devices;  // share and topology, by id
  text::Array links;                // topology: GPU to GPU
  text::Array bandwidths;
  std::vector<GpuMetric> metrics;
};

// Arena's text for nodes of that kind; begins and ends with a newline.
std::string_view DescriptionOf(const NodeUse& node);

// In the order of `nodes`. `topologies`: the ConfigMaps of kTopologySelector in kube-system, with
// the distances between each node's GPUs. `metrics`, if there are any, count a node's GPUs.
std::vector<NodeUse> CountNodes(const std::vector<text::Json>& nodes,
                                const std::vector<text::Json>& pods,
                                const std::vector<text::Json>& topologies,
                                const std::vector<GpuMetric>& metrics);
inline constexpr std::string_view kTopologySelector = "ack.node.gpu.schedule=topology";
// Whether a node declares that its topology is known.
bool HasTopologyNode(const std::vector<text::Json>& nodes);

}  // namespace arena
