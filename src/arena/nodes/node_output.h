// Nodes and their GPUs as `top node` prints them (compat/arena.md 2.8 and the documents). Pure.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/job_output.h"
#include "arena/nodes/nodes.h"
#include "text/json.h"

namespace arena {

// kDocument: the documents' table; kWide: that of v0.15. `are_named`: only some nodes were asked
// for, so that v0.15 sums nothing up.
std::string RenderNodes(const std::vector<NodeUse>& nodes, Format format, bool are_named);
// One block a node, those without GPUs first. `has_arenas_words`: scripts that know Arena read
// them.
std::string RenderNodeDetails(const std::vector<NodeUse>& nodes, bool has_arenas_words);
// Arena's keys in its order.
text::Json NodesToJson(const std::vector<NodeUse>& nodes);

// What v0.15 prints: Ready, NotReady or Unknown, and whether pods may be put there.
std::string NodeStatus(const NodeUse& node);

}  // namespace arena
