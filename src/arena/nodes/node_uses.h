// Reads a cluster's nodes and who uses them, for `top node` and the page.
#pragma once

#include <vector>

#include "arena/app/app.h"
#include "arena/nodes/nodes.h"
#include "cluster/client.h"

namespace arena {

// Every node, in the server's order. `with_metrics`: adds the GPUs' utilization, or logs that it is
// unknown.
base::Result<std::vector<NodeUse>> NodeUsesOf(cluster::Client& client, const Context& context,
                                              bool with_metrics);

}  // namespace arena
