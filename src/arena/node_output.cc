#include "arena/node_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/training_summary.h"
#include "base/quantity.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

constexpr size_t kDocumentDashes = 89;
constexpr size_t kWideDashes = 99;

int64_t GpusIn(const text::Json& node, std::string_view where) {
  const text::Json* quantity = text::Find(node, {"status", where, api::kGpuResource});
  if (quantity == nullptr) return 0;
  if (const int64_t* number = quantity->if_int64()) return *number;
  return base::ParseQuantity(text::GetString(*quantity, {})).value_or(0);
}

std::string RoleOf(const text::Json& node) {
  constexpr std::string_view kRolePrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const auto& [label, value] : api::Labels(node)) {
    if (label.starts_with(kRolePrefix) && label.size() > kRolePrefix.size()) {
      roles.push_back(label.substr(kRolePrefix.size()));
    } else if (label == "kubernetes.io/role" && !value.empty()) {
      roles.push_back(value);
    }
  }
  return roles.empty() ? "<none>" : base::Join(roles, ",");
}

std::string AddressOf(const text::Json& node) {
  const text::Array* addresses = text::FindArray(node, {"status", "addresses"});
  return addresses == nullptr || addresses->empty()
             ? "unknown"
             : std::string(text::GetString((*addresses)[0], {"address"}));
}

// What the documents print (lower case), and what v0.15 prints.
std::string StatusOf(const NodeUse& node, Format format) {
  std::string status;
  if (format == Format::kDocument) {
    status = node.is_ready ? "ready" : "notReady";
  } else {
    status = node.is_ready ? "Ready" : node.is_known ? "NotReady" : "Unknown";
  }
  return node.is_schedulable ? status : status + ",SchedulingDisabled";
}

struct Totals {
  int64_t total = 0;
  int64_t allocated = 0;
  int64_t unhealthy = 0;
};
Totals Sum(const std::vector<NodeUse>& nodes) {
  Totals totals;
  for (const NodeUse& node : nodes) {
    totals.total += node.total_gpus;
    totals.allocated += node.allocated_gpus;
    totals.unhealthy += node.UnhealthyGpus();
  }
  return totals;
}

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) * 100.0 / static_cast<double>(whole);
}

std::string RenderDocument(const std::vector<NodeUse>& nodes) {
  cli::Table table;
  table.Row({"NAME", "IPADDRESS", "ROLE", "STATUS", "GPU(Total)", "GPU(Allocated)"});
  for (const NodeUse& node : nodes) {
    table.Row({node.name, node.address, node.role, StatusOf(node, Format::kDocument),
               std::to_string(node.total_gpus), std::to_string(node.allocated_gpus)});
  }
  const Totals totals = Sum(nodes);
  return table.Render() + std::string(kDocumentDashes, '-') +
         fmt::format("\nAllocated/Total GPUs In Cluster:\n{}/{} ({}%)\n", totals.allocated,
                     totals.total, static_cast<int64_t>(Percent(totals.allocated, totals.total)));
}

std::string RenderWide(std::vector<NodeUse> nodes) {
  std::stable_partition(nodes.begin(), nodes.end(),
                        [](const NodeUse& node) { return !node.HasGpus(); });
  const Totals totals = Sum(nodes);
  const bool has_normal = !nodes.empty() && !nodes.front().HasGpus();
  const bool has_gpus = !nodes.empty() && nodes.back().HasGpus();
  cli::Table table;
  std::vector<std::string> header = {"NAME", "IPADDRESS", "ROLE", "STATUS"};
  if (has_gpus) {
    header.insert(header.end(), {"GPU(Total)", "GPU(Allocated)"});
    if (totals.unhealthy > 0) header.emplace_back("UNHEALTHY");
  }
  table.Row(std::move(header));
  for (const NodeUse& node : nodes) {
    std::vector<std::string> row = {node.name, node.address, node.role,
                                    StatusOf(node, Format::kWide)};
    if (has_gpus) {
      row.push_back(std::to_string(node.total_gpus));
      row.push_back(std::to_string(node.allocated_gpus));
      if (totals.unhealthy > 0) row.push_back(std::to_string(node.UnhealthyGpus()));
    }
    table.Row(std::move(row));
  }
  std::string out = table.Render();
  if (!has_gpus) return out;
  out += std::string(kWideDashes, '-');
  out += has_normal
             ? "\nAllocated/Total GPUs In Cluster:\n"
             : "\nAllocated/Total GPUs of nodes which own resource nvidia.com/gpu In Cluster:\n";
  out += fmt::format("{}/{} ({:.1f}%)\n", totals.allocated, totals.total,
                     Percent(totals.allocated, totals.total));
  if (totals.unhealthy > 0) {
    out += fmt::format("Unhealthy/Total GPUs In Cluster:\n{}/{} ({:.1f}%)\n", totals.unhealthy,
                       totals.total, Percent(totals.unhealthy, totals.total));
  }
  return out;
}

constexpr std::string_view kExclusiveDescription =
    "\n  1.This node is enabled gpu exclusive mode.\n  2.Pods can request resource "
    "'nvidia.com/gpu' to use gpu exclusive feature on this node";
constexpr std::string_view kNormalDescription =
    "\n  1.This node has none gpu devices\n  2.Pods can not request gpu resource on this node";

}  // namespace

std::vector<NodeUse> CountNodes(const std::vector<text::Json>& nodes,
                                const std::vector<text::Json>& pods) {
  std::vector<NodeUse> result;
  std::map<std::string, size_t, std::less<>> by_name;
  for (const text::Json& node : nodes) {
    NodeUse& use = result.emplace_back();
    use.name = api::Name(node);
    by_name[use.name] = result.size() - 1;
    use.address = AddressOf(node);
    use.role = RoleOf(node);
    use.is_schedulable = !text::GetBool(node, {"spec", "unschedulable"}).value_or(false);
    use.total_gpus = GpusIn(node, "capacity");
    use.allocatable_gpus = GpusIn(node, "allocatable");
    if (const text::Array* conditions = text::FindArray(node, {"status", "conditions"})) {
      for (const text::Json& condition : *conditions) {
        if (text::GetString(condition, {"type"}) != "Ready") continue;
        use.is_ready = text::GetString(condition, {"status"}) == "True";
        use.is_known = text::GetString(condition, {"status"}) != "Unknown";
      }
    }
  }
  for (const text::Json& pod : pods) {
    if (api::IsPodFinished(pod) || api::IsDeleting(pod)) continue;
    const auto node = by_name.find(api::NodeName(pod));
    const int64_t gpus = api::SumOfLimits(pod, api::kGpuResource);
    if (node == by_name.end() || gpus <= 0) continue;
    NodeUse& use = result[node->second];
    use.allocated_gpus += gpus;
    use.instances.push_back({std::string(api::Namespace(pod)), std::string(api::Name(pod)),
                             api::PodStatusText(pod), gpus});
  }
  return result;
}

std::string RenderNodes(const std::vector<NodeUse>& nodes, Format format) {
  return format == Format::kWide ? RenderWide(nodes) : RenderDocument(nodes);
}

std::string RenderNodeDetails(const std::vector<NodeUse>& nodes) {
  std::string out;
  for (const NodeUse& node : nodes) {
    const bool has_gpus = node.HasGpus();
    out += fmt::format(
        "\nName:    {}\nStatus:  {}\nRole:    {}\nType:    {}\nAddress: {}\nDescription:{}\n",
        node.name, StatusOf(node, Format::kWide), node.role, has_gpus ? "GPUExclusive" : "None",
        node.address, has_gpus ? kExclusiveDescription : kNormalDescription);
    if (!node.instances.empty()) {
      cli::Table table("  ");
      table.Row({"NAMESPACE", "NAME", "STATUS", "GPU(Requested)"});
      table.Row({"---------", "----", "------", "--------------"});
      for (const NodeInstance& instance : node.instances) {
        table.Row({instance.namespace_name, instance.name, instance.status,
                   std::to_string(instance.requested_gpus)});
      }
      out += "Instances:\n" + table.Render();
    }
    if (has_gpus) {
      out += fmt::format(
          "GPU Summary:\n  Total GPUs:     {}\n  Allocated GPUs: {}\n  Unhealthy GPUs: {}\n",
          node.total_gpus, node.allocated_gpus, node.UnhealthyGpus());
    }
  }
  return out;
}

text::Json NodesToJson(const std::vector<NodeUse>& nodes) {
  text::Array exclusive;
  text::Array normal;
  for (const NodeUse& node : nodes) {
    // Arena leaves the role of a node with GPUs empty.
    text::Object object;
    if (node.HasGpus()) {
      text::Array instances;
      for (const NodeInstance& instance : node.instances) {
        instances.push_back(text::Object{{"name", instance.name},
                                         {"namespace", instance.namespace_name},
                                         {"status", instance.status},
                                         {"requestGPUs", instance.requested_gpus}});
      }
      object["instances"] = std::move(instances);
    }
    object["name"] = node.name;
    object["description"] = node.HasGpus() ? kExclusiveDescription : kNormalDescription;
    object["ip"] = node.address;
    object["status"] = StatusOf(node, Format::kWide);
    object["role"] = node.role == "<none>" ? "" : node.role;
    object["type"] = node.HasGpus() ? "GPUExclusive" : "none";
    if (!node.HasGpus()) {
      normal.push_back(std::move(object));
      continue;
    }
    object["totalGPUs"] = node.total_gpus;
    object["allocatedGPUs"] = node.allocated_gpus;
    object["unhealthyGPUs"] = node.UnhealthyGpus();
    object["gpuMetrics"] = text::Array{};
    exclusive.push_back(std::move(object));
  }
  return text::Object{{"gpuExclusiveNodes", std::move(exclusive)},
                      {"gpuShareNodes", text::Array{}},
                      {"gpuTopologyNodes", text::Array{}},
                      {"normalNodes", std::move(normal)}};
}

}  // namespace arena
