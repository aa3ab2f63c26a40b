// Nodes and their GPUs as `top node` prints them (compat/arena.md 2.8 and the documents). Pure.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/job_output.h"
#include "arena/nodes/nodes.h"
#include "text/json.h"

namespace arena {

// kDocument: the documents' table; kWide: v0.15's. `are_named`: the user named nodes, so v0.15
// prints no sum.
std::string RenderNodes(const std::vector<NodeUse>& nodes, Format format, bool are_named);
// One block per node, nodes without GPUs first. `has_arenas_words`: Arena's texts, for scripts.
std::string RenderNodeDetails(const std::vector<NodeUse>& nodes, bool has_arenas_words);
// Arena's keys in its order.
text::Json NodesToJson(const std::vector<NodeUse>& nodes);

// As v0.15 prints it: Ready, NotReady or Unknown, and whether pods may be scheduled there.
std::string NodeStatus(const NodeUse& node);

}  // namespace arena
