// Asking a cluster for its nodes and who uses them: `top node`, and the page.
#pragma once

#include <vector>

#include "arena/app/app.h"
#include "arena/nodes/nodes.h"
#include "cluster/client.h"

namespace arena {

// Every node, in the server's order. `with_metrics`: how busy the GPUs are too, where somebody
// knows; that nobody does is logged.
base::Result<std::vector<NodeUse>> NodeUsesOf(cluster::Client& client, const Context& context,
                                              bool with_metrics);

}  // namespace arena
