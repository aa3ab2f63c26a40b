#include "arena/nodes/node_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/table.h"

namespace arena {
namespace {

constexpr size_t kDocumentDashes = 89;
constexpr size_t kWideDashes = 99;
constexpr size_t kShareDashes = 107;

struct Totals {
  double total = 0;
  double allocated = 0;
  double unhealthy = 0;
  double memory = 0;
  double allocated_memory = 0;
  int64_t core = 0;
  int64_t allocated_core = 0;
};
Totals Sum(const std::vector<NodeUse>& nodes) {
  Totals totals;
  for (const NodeUse& node : nodes) {
    totals.total += node.total_gpus;
    totals.allocated += node.allocated_gpus;
    totals.unhealthy += node.unhealthy_gpus;
    totals.memory += node.total_memory;
    totals.allocated_memory += node.allocated_memory;
    totals.core += node.total_core;
    totals.allocated_core += node.allocated_core;
  }
  return totals;
}

double Percent(double part, double whole) { return whole == 0 ? 0.0 : part * 100.0 / whole; }

std::string RenderDocument(const std::vector<NodeUse>& nodes) {
  cli::Table table;
  table.Row({"NAME", "IPADDRESS", "ROLE", "STATUS", "GPU(Total)", "GPU(Allocated)"});
  for (const NodeUse& node : nodes) {
    // Lower case in the documents.
    const std::string status = node.is_ready ? "ready" : "notReady";
    table.Row({node.name, node.address, node.role,
               node.is_schedulable ? status : status + ",SchedulingDisabled",
               Number(node.total_gpus), Number(node.allocated_gpus)});
  }
  const Totals totals = Sum(nodes);
  return table.Render() + std::string(kDocumentDashes, '-') +
         fmt::format("\nAllocated/Total GPUs In Cluster:\n{}/{} ({}%)\n", Number(totals.allocated),
                     Number(totals.total),
                     static_cast<int64_t>(Percent(totals.allocated, totals.total)));
}

std::string GpuFooter(std::string_view of, const Totals& totals) {
  std::string out = fmt::format("Allocated/Total GPUs{} In Cluster:\n{}/{} ({:.1f}%)\n", of,
                                Number(totals.allocated), Number(totals.total),
                                Percent(totals.allocated, totals.total));
  return out;
}

std::string UnhealthyFooter(std::string_view of, const Totals& totals) {
  if (totals.unhealthy == 0) return "";
  return fmt::format("Unhealthy/Total GPUs{} In Cluster:\n{}/{} ({:.1f}%)\n", of,
                     Number(totals.unhealthy), Number(totals.total),
                     Percent(totals.unhealthy, totals.total));
}

bool HasUnhealthy(const std::vector<NodeUse>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const NodeUse& node) { return node.unhealthy_gpus != 0; });
}

// Kind by kind.
std::string WholeGpuTable(const std::vector<NodeUse>& nodes, bool has_modes) {
  const bool has_unhealthy = HasUnhealthy(nodes);
  cli::Table table;
  std::vector<std::string> header = {"NAME",   "IPADDRESS",  "ROLE",
                                     "STATUS", "GPU(Total)", "GPU(Allocated)"};
  if (has_modes) header.emplace_back("GPU(Mode)");
  if (has_unhealthy) header.emplace_back("UNHEALTHY");
  table.Row(std::move(header));
  for (const NodeKind kind : kNodeKinds) {
    for (const NodeUse& node : nodes) {
      if (node.kind != kind) continue;
      std::vector<std::string> row = {node.name,
                                      node.address,
                                      node.role,
                                      NodeStatus(node),
                                      Number(node.total_gpus),
                                      Number(node.allocated_gpus)};
      if (has_modes) row.emplace_back(ModeOf(kind));
      if (has_unhealthy) row.push_back(Number(node.unhealthy_gpus));
      table.Row(std::move(row));
    }
  }
  return table.Render();
}

// All of one kind whose GPUs are given whole, or that has none.
std::string RenderWholeGpus(const std::vector<NodeUse>& nodes) {
  const std::string table = WholeGpuTable(nodes, false);
  if (nodes[0].kind == NodeKind::kNormal) return table;
  const std::string_view of = nodes[0].kind == NodeKind::kExclusive
                                  ? " of nodes which own resource nvidia.com/gpu"
                                  : " of nodes which own resource aliyun.com/gpu";
  const Totals totals = Sum(nodes);
  return table + std::string(kWideDashes, '-') + "\n" + GpuFooter(of, totals) +
         UnhealthyFooter(of, totals);
}

std::string RenderShare(const std::vector<NodeUse>& nodes) {
  const bool has_unhealthy = HasUnhealthy(nodes);
  cli::Table table;
  std::vector<std::string> header = {"NAME",
                                     "IPADDRESS",
                                     "ROLE",
                                     "STATUS",
                                     "GPUs(Allocated/Total)",
                                     "GPU_MEMORY(Allocated/Total)",
                                     "GPU_CORE(Allocated/Total)"};
  if (has_unhealthy) header.emplace_back("UNHEALTHY");
  table.Row(std::move(header));
  for (const NodeUse& node : nodes) {
    std::vector<std::string> row = {
        node.name,
        node.address,
        node.role,
        NodeStatus(node),
        fmt::format("{}/{}", Number(node.allocated_gpus), Number(node.total_gpus)),
        fmt::format("{:.1f}/{:.1f} GiB", node.allocated_memory / kGibibyte,
                    node.total_memory / kGibibyte),
        node.total_core > 0 ? fmt::format("{}/{}", node.allocated_core, node.total_core) : "__"};
    if (has_unhealthy) row.push_back(Number(node.unhealthy_gpus));
    table.Row(std::move(row));
  }
  const Totals totals = Sum(nodes);
  const std::string_view of = " of nodes which own resource aliyun.com/gpu-mem";
  std::string out = table.Render() + std::string(kShareDashes, '-') + "\n" + GpuFooter(of, totals);
  out += fmt::format("Allocated/Total GPU Memory{} In Cluster:\n{:.1f}/{:.1f} GiB({:.1f}%)\n", of,
                     totals.allocated_memory / kGibibyte, totals.memory / kGibibyte,
                     Percent(totals.allocated_memory, totals.memory));
  if (totals.core > 0) {
    out += fmt::format(
        "Allocated/Total GPU Core of nodes which own resource aliyun.com/gpu-core.percentage In "
        "Cluster:\n{}/{} ({:.1f}%)\n",
        totals.allocated_core, totals.core,
        Percent(static_cast<double>(totals.allocated_core), static_cast<double>(totals.core)));
  }
  return out + UnhealthyFooter(of, totals);
}

// A table for each of several kinds, one below the other.
std::string RenderMixed(const std::vector<NodeUse>& nodes, size_t gpu_kinds, bool are_named) {
  const std::string table = WholeGpuTable(nodes, gpu_kinds > 1);
  if (are_named) return table;
  const Totals totals = Sum(nodes);
  return table + std::string(kWideDashes, '-') + "\n" + GpuFooter("", totals) +
         UnhealthyFooter("", totals);
}

}  // namespace

std::string NodeStatus(const NodeUse& node) {
  const std::string status = node.is_ready ? "Ready" : node.is_known ? "NotReady" : "Unknown";
  return node.is_schedulable ? status : status + ",SchedulingDisabled";
}

std::string RenderNodes(const std::vector<NodeUse>& nodes, Format format, bool are_named) {
  if (format != Format::kWide) return RenderDocument(nodes);
  std::set<NodeKind> kinds;
  for (const NodeUse& node : nodes) kinds.insert(node.kind);
  if (kinds.size() > 1) {
    kinds.erase(NodeKind::kNormal);
    return RenderMixed(nodes, kinds.size(), are_named);
  }
  return *kinds.begin() == NodeKind::kShare ? RenderShare(nodes) : RenderWholeGpus(nodes);
}

}  // namespace arena
