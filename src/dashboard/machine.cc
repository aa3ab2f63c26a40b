#include "dashboard/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "api/gpus.h"
#include "api/job/training_summary.h"
#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace dashboard {
namespace {

struct Device {
  std::string pod, job;
  const arena::GpuMetric* metric = nullptr;
};

// In thousandths; 0 if the node does not say.
int64_t Allocatable(const text::Json& node, std::string_view resource) {
  for (const std::string_view field : {"allocatable", "capacity"}) {
    const text::Json* value = text::Find(node, {"status", field, resource});
    if (value == nullptr) continue;
    const auto quantity = base::ParseQuantityMilli(
        value->is_string() ? std::string(value->get_string()) : text::ToJson(*value));
    if (quantity) return *quantity;
  }
  return 0;
}

std::string JobOf(const text::Json& pod) {
  return std::string(api::Label(pod, api::kJobNameLabel));
}

text::Json Number(const std::optional<double>& value) {
  return value ? text::Json(*value) : text::Json(nullptr);
}

text::Json AmountsOf(const api::ResourceRequest& request) {
  return text::Object{{"cpuMilli", request.cpu_milli},
                      {"memoryBytes", request.memory_bytes},
                      {"gpus", request.gpus}};
}

// By number: the GPUs that the node has, that pods use, or that are measured.
std::map<int64_t, Device> DevicesOf(const std::string& node, int64_t gpus,
                                    const std::vector<const text::Json*>& pods,
                                    const std::vector<arena::GpuMetric>& metrics) {
  std::map<int64_t, Device> devices;
  for (int64_t i = 0; i < std::min<int64_t>(gpus, 1024); ++i) devices[i];
  for (const text::Json* pod : pods) {
    for (const std::string& index : base::Split(api::Annotation(*pod, api::kGpusAnnotation), ',')) {
      if (const auto number = base::ParseInt(index)) {
        devices[*number] = {std::string(api::Name(*pod)), JobOf(*pod), nullptr};
      }
    }
  }
  for (const arena::GpuMetric& metric : metrics) {
    const auto number = base::ParseInt(metric.id);
    if (!number || metric.node != node) continue;
    Device& device = devices[*number];
    device.metric = &metric;
    if (device.pod.empty()) device.pod = metric.pod;
  }
  return devices;
}

text::Json NodeDocument(const text::Json& node, const std::vector<const text::Json*>& pods,
                        const std::vector<arena::GpuMetric>& metrics) {
  const int64_t gpus = Allocatable(node, api::GpuResourceOf(node)) / 1000;
  api::ResourceRequest sum;
  text::Array holders;
  for (const text::Json* pod : pods) {
    const api::ResourceRequest request = api::PodRequest(*pod);
    sum += request;
    text::Json holder = AmountsOf(request);
    text::Object& object = holder.as_object();
    object["name"] = api::Name(*pod);
    object["namespace"] = api::Namespace(*pod);
    object["job"] = JobOf(*pod);
    object["status"] = api::PodStatusText(*pod);
    holders.push_back(std::move(holder));
  }
  text::Array devices;
  for (const auto& [index, device] : DevicesOf(std::string(api::Name(node)), gpus, pods, metrics)) {
    const arena::GpuMetric none;
    const arena::GpuMetric& metric = device.metric != nullptr ? *device.metric : none;
    devices.push_back(text::Object{{"index", index},
                                   {"pod", device.pod},
                                   {"job", device.job},
                                   {"dutyCycle", Number(metric.duty_cycle)},
                                   {"memoryUsed", Number(metric.memory_used)},
                                   {"memoryTotal", Number(metric.memory_total)}});
  }
  return text::Object{{"name", api::Name(node)},
                      {"ready", api::IsNodeReady(node)},
                      {"cpuMilli", Allocatable(node, "cpu")},
                      {"memoryBytes", Allocatable(node, "memory") / 1000},
                      {"gpus", gpus},
                      {"requested", AmountsOf(sum)},
                      {"devices", std::move(devices)},
                      {"pods", std::move(holders)}};
}

}  // namespace

text::Json MachineDocument(const std::vector<text::Json>& nodes,
                           const std::vector<text::Json>& pods,
                           const std::vector<arena::GpuMetric>& metrics) {
  std::map<std::string, std::vector<const text::Json*>, std::less<>> by_node;
  for (const text::Json& pod : pods) {
    if (!api::IsPodFinished(pod)) by_node[std::string(api::NodeName(pod))].push_back(&pod);
  }
  text::Array array;
  for (const text::Json& node : nodes) {
    array.push_back(NodeDocument(node, by_node[std::string(api::Name(node))], metrics));
  }
  return text::Object{{"nodes", std::move(array)}};
}

}  // namespace dashboard
