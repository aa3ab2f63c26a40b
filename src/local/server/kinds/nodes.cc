#include "api/kinds.h"
#include "api/object.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kNodeColumns[] = {{"Name", "string"},
                                   {"Status", "string"},
                                   {"Roles", "string"},
                                   {"Age", "string"},
                                   {"Version", "string"},
                                   {"Internal-IP", "string", 1},
                                   {"External-IP", "string", 1},
                                   {"OS-Image", "string", 1},
                                   {"Kernel-Version", "string", 1},
                                   {"Container-Runtime", "string", 1}};

void NodeCells(const text::Json& node, base::Time now, Cells& cells) {
  std::string status = api::IsNodeReady(node) ? "Ready" : "NotReady";
  if (api::IsNodeUnschedulable(node)) status += ",SchedulingDisabled";
  cells.Text(api::Name(node));
  cells.Text(status);
  cells.Text(api::NodeRoles(node));
  cells.Text(Age(api::CreationTime(node), now));
  cells.Text(text::GetString(node, {"status", "nodeInfo", "kubeletVersion"}));
  cells.TextOr(api::NodeAddress(node, "InternalIP"), "<none>");
  cells.TextOr(api::NodeAddress(node, "ExternalIP"), "<none>");
  for (const char* key : {"osImage", "kernelVersion", "containerRuntimeVersion"}) {
    cells.TextOr(text::GetString(node, {"status", "nodeInfo", key}), "<unknown>");
  }
}

}  // namespace

const KindRules kNodeRules{.short_name = "no", .columns = kNodeColumns, .cells = NodeCells};

}  // namespace local::server
