#include "arena/nodes/node_uses.h"

namespace arena {

base::Result<std::vector<NodeUse>> NodeUsesOf(cluster::Client& client, const Context& context,
                                              bool with_metrics) {
  TRY_ASSIGN(const cluster::ObjectList nodes, client.List(api::kNodes, {}));
  cluster::ListOptions options;
  options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  TRY_ASSIGN(const cluster::ObjectList pods, client.List(api::kPods, options));
  cluster::ObjectList topologies;
  if (HasTopologyNode(nodes.items)) {
    cluster::ListOptions of_topologies;
    of_topologies.namespace_name = "kube-system";
    of_topologies.label_selector = kTopologySelector;
    TRY_ASSIGN(topologies, client.List(api::kConfigMaps, of_topologies));
  }
  std::vector<GpuMetric> metrics;
  if (with_metrics) metrics = GpuMetricsOrNone(client, context);
  return CountNodes(nodes.items, pods.items, topologies.items, metrics);
}

}  // namespace arena
