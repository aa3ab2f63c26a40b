// What `top node -d` says of each node.
#include <fmt/format.h>

#include <algorithm>

#include "arena/nodes/node_output.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

std::string GiB(double bytes) { return fmt::format("{:.1f} GiB", bytes / kGibibyte); }

std::string Headed(std::string_view title, const cli::Table& table) {
  return fmt::format("{}:\n{}", title, table.Render());
}

// gpu0,gpu3
std::string GpusHeldBy(const NodeInstance& instance, const std::vector<GpuMetric>& metrics) {
  std::vector<std::string> held;
  for (const GpuMetric& metric : MetricsOfPod(metrics, instance.namespace_name, instance.name)) {
    held.push_back("gpu" + metric.id);
  }
  return held.empty() ? "N/A" : base::Join(held, ",");
}

std::string ExclusiveInstances(const NodeUse& node) {
  if (node.instances.empty()) return "";
  const bool has_metrics = !node.metrics.empty();
  cli::Table table("  ");
  std::vector<std::string> header = {"NAMESPACE", "NAME", "STATUS", "GPU(Requested)"};
  std::vector<std::string> line = {"---------", "----", "------", "--------------"};
  if (has_metrics) {
    header.emplace_back("GPU(Allocated)");
    line.emplace_back("--------------");
  }
  table.Row(std::move(header));
  table.Row(std::move(line));
  for (const NodeInstance& instance : node.instances) {
    std::vector<std::string> row = {instance.namespace_name, instance.name, instance.status,
                                    std::to_string(instance.requested_gpus)};
    if (has_metrics) row.push_back(GpusHeldBy(instance, node.metrics));
    table.Row(std::move(row));
  }
  return Headed("Instances", table);
}

std::string TopologyInstances(const NodeUse& node) {
  cli::Table table("  ");
  table.Row({"NAMESPACE", "NAME", "GPU(Requested)", "GPU(Allocated)"});
  table.Row({"---------", "----", "--------------", "--------------"});
  bool is_empty = true;
  for (const NodeInstance& instance : node.instances) {
    if (instance.allocation.empty()) continue;
    is_empty = false;
    table.Row({instance.namespace_name, instance.name, std::to_string(instance.requested_gpus),
               base::Join(instance.allocation, ",")});
  }
  return is_empty ? "" : Headed("Instances", table);
}

std::string ShareInstances(const NodeUse& node) {
  if (node.instances.empty()) return "";
  const bool has_core = node.total_core != 0;
  cli::Table table("  ");
  std::vector<std::string> header = {"NAMESPACE", "NAME", "GPU_MEM(Requested)",
                                     "GPU_MEM(Allocated)"};
  std::vector<std::string> line = {"---------", "----", "------------------", "------------------"};
  if (has_core) {
    header.insert(header.end(), {"GPU_CORE(Requested)", "GPU_CORE(Allocated)"});
    line.insert(line.end(), {"-------------------", "-------------------"});
  }
  table.Row(std::move(header));
  table.Row(std::move(line));
  for (const NodeInstance& instance : node.instances) {
    std::vector<std::string> memory;
    std::vector<std::string> core;
    for (const NodeDevice& device : node.devices) {
      if (const auto held = instance.memory.find(device.id); held != instance.memory.end()) {
        memory.push_back(fmt::format("gpu{}({}.0GiB)", device.id, held->second));
      }
      if (const auto held = instance.core.find(device.id); held != instance.core.end()) {
        core.push_back(fmt::format("gpu{}({})", device.id, held->second));
      }
    }
    std::vector<std::string> row = {instance.namespace_name, instance.name,
                                    fmt::format("{}.0 GiB", instance.requested_memory),
                                    base::Join(memory, ",")};
    if (has_core) {
      row.push_back(std::to_string(instance.requested_core));
      row.push_back(base::Join(core, ","));
    }
    table.Row(std::move(row));
  }
  return Headed("Instances", table);
}

// Bytes of the GPU that pods hold.
double AllocatedMemory(const NodeUse& node, const GpuMetric& metric) {
  for (const NodeDevice& device : node.devices) {
    if (device.id != metric.id) continue;
    if (node.kind == NodeKind::kShare) return device.allocated_memory;
    return device.is_used ? metric.memory_total.value_or(0) : 0;
  }
  const bool is_held =
      std::any_of(node.instances.begin(), node.instances.end(), [&](const NodeInstance& instance) {
        return instance.is_running && instance.name == metric.pod &&
               instance.namespace_name == metric.pod_namespace;
      });
  return is_held ? metric.memory_total.value_or(0) : 0;
}

std::string MeasuredGpus(const NodeUse& node) {
  cli::Table table("  ");
  table.Row({"INDEX", "MEMORY(Total)", "MEMORY(Allocated)", "MEMORY(Used)", "DUTY_CYCLE"});
  table.Row({"-----", "-------------", "-----------------", "------------", "----------"});
  double total = 0;
  double allocated = 0;
  double used = 0;
  for (const GpuMetric& metric : node.metrics) {
    const double held = AllocatedMemory(node, metric);
    // Memory that no pod has does not count as used.
    const double in_use = held > 0 ? metric.memory_used.value_or(0) : 0;
    total += metric.memory_total.value_or(0);
    allocated += held;
    used += in_use;
    table.Row({metric.id, GiB(metric.memory_total.value_or(0)), GiB(held), GiB(in_use),
               fmt::format("{:.1f}%", held > 0 ? metric.duty_cycle.value_or(0) : 0.0)});
  }
  return Headed("GPUs", table) +
         fmt::format(
             "GPU Summary:\n  Total GPUs:           {}\n  Allocated GPUs:       {}\n"
             "  Unhealthy GPUs:       {}\n  Total GPU Memory:     {}\n"
             "  Allocated GPU Memory: {}\n  Used GPU Memory:      {}\n",
             Number(node.total_gpus), Number(node.allocated_gpus), Number(node.unhealthy_gpus),
             GiB(total), GiB(allocated), GiB(used));
}

std::string ShareGpus(const NodeUse& node) {
  const bool has_core = node.total_core != 0;
  const auto percent = [](double part, double whole) {
    return whole == 0 ? 0.0 : part * 100.0 / whole;
  };
  cli::Table table("  ");
  std::vector<std::string> header = {"INDEX", "MEMORY(Total)", "MEMORY(Allocated)"};
  std::vector<std::string> line = {"-----", "-------------", "-----------------"};
  if (has_core) {
    header.insert(header.end(), {"CORE(Total)", "CORE(Allocated)"});
    line.insert(line.end(), {"-----------", "---------------"});
  }
  table.Row(std::move(header));
  table.Row(std::move(line));
  for (const NodeDevice& device : node.devices) {
    std::vector<std::string> row = {
        device.id, Number(device.total_memory / kGibibyte) + " GiB",
        fmt::format("{} GiB({:.1f}%)", Number(device.allocated_memory / kGibibyte),
                    percent(device.allocated_memory, device.total_memory))};
    if (has_core) {
      row.push_back(std::to_string(device.total_core));
      row.push_back(fmt::format("{}({:.1f}%)", device.allocated_core,
                                percent(static_cast<double>(device.allocated_core),
                                        static_cast<double>(device.total_core))));
    }
    table.Row(std::move(row));
  }
  std::string out = node.devices.empty() ? "" : Headed("GPUs", table);
  out += fmt::format(
      "GPU Summary:\n  Total GPUs: {}\n  Allocated GPUs: {}\n  Unhealthy GPUs: {}\n"
      "  Total GPU Memory: {}\n  Allocated GPU Memory: {}\n",
      Number(node.total_gpus), Number(node.allocated_gpus), Number(node.unhealthy_gpus),
      GiB(node.total_memory), GiB(node.allocated_memory));
  if (has_core) {
    out += fmt::format("  Total GPU Core: {}\n  Allocated GPU Core: {}\n", node.total_core,
                       node.allocated_core);
  }
  return out;
}

// GPU to GPU.
std::string Matrix(std::string_view title, const text::Array& rows, size_t devices) {
  if (rows.empty()) return "";
  cli::Table table("  ");
  std::vector<std::string> header = {""};
  for (size_t i = 0; i < devices; ++i) header.push_back(fmt::format("GPU{}", i));
  table.Row(std::move(header));
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> row = {fmt::format("GPU{}", i)};
    if (const text::Array* cells = rows[i].if_array()) {
      for (const text::Json& cell : *cells) {
        row.push_back(text::ToText(cell));
      }
    }
    table.Row(std::move(row));
  }
  return Headed(title, table);
}

std::string TopologyGpus(const NodeUse& node) {
  cli::Table table("  ");
  table.Row({"INDEX", "STATUS", "HEALTHY"});
  table.Row({"----", "------", "-------"});
  for (const NodeDevice& device : node.devices) {
    table.Row({"GPU" + device.id, device.is_used ? "using" : "idle",
               device.is_healthy ? "true" : "false"});
  }
  return (node.devices.empty() ? "" : Headed("GPUs", table)) +
         fmt::format("GPU Summary:\n  Total GPUs: {}\n  Allocated GPUs: {}\n  Unhealthy GPUs: {}\n",
                     Number(node.total_gpus), Number(node.allocated_gpus),
                     Number(node.unhealthy_gpus));
}

std::string GpusOf(const NodeUse& node) {
  switch (node.kind) {
    case NodeKind::kNormal:
      return "";
    case NodeKind::kExclusive:
      return ExclusiveInstances(node) +
             (node.metrics.empty()
                  ? fmt::format("GPU Summary:\n  Total GPUs:     {}\n  Allocated GPUs: {}\n"
                                "  Unhealthy GPUs: {}\n",
                                Number(node.total_gpus), Number(node.allocated_gpus),
                                Number(node.unhealthy_gpus))
                  : MeasuredGpus(node));
    case NodeKind::kTopology:
      return TopologyInstances(node) + Matrix("LinkTypeMatrix", node.links, node.devices.size()) +
             Matrix("BandwidthMatrix", node.bandwidths, node.devices.size()) +
             (node.metrics.empty() ? TopologyGpus(node) : MeasuredGpus(node));
    case NodeKind::kShare:
      return ShareInstances(node) + (node.metrics.empty() ? ShareGpus(node) : MeasuredGpus(node)) +
             "\n";
  }
  return "";
}

}  // namespace

std::string RenderNodeDetails(const std::vector<NodeUse>& nodes, bool has_arenas_words) {
  std::string out;
  for (const NodeKind kind : kNodeKinds) {
    for (const NodeUse& node : nodes) {
      if (node.kind != kind) continue;
      const std::string_view description = kind == NodeKind::kNormal && !has_arenas_words
                                               ? "\n  This node has no GPU\n"
                                               : DescriptionOf(node);
      out += fmt::format(
          "\nName:    {}\nStatus:  {}\nRole:    {}\nType:    {}\nAddress: {}\nDescription:{}{}\n",
          node.name, NodeStatus(node), node.role, TypeOf(kind), node.address, description,
          GpusOf(node));
    }
  }
  return out;
}

}  // namespace arena
