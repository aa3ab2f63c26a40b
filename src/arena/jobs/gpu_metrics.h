// GPU utilization, from Prometheus or the embedded cluster's daemon (compat/arena.md 4).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arena/app/app.h"
#include "cluster/client.h"

namespace arena {

// One GPU, and the pod that holds it.
struct GpuMetric {
  std::string id;  // index on its node
  std::string uuid;
  std::string node;
  std::string pod_namespace;
  std::string pod;                    // "" if it is free
  std::optional<double> duty_cycle;   // percent
  std::optional<double> memory_used;  // bytes
  std::optional<double> memory_total;
};

// One value from an exporter, with the names and labels of Alibaba's (nvidia_gpu_duty_cycle ...) or
// NVIDIA's (DCGM_FI_DEV_GPU_UTIL ...).
struct MetricSample {
  std::map<std::string, std::string, std::less<>> labels;  // with __name__
  double value = 0;
};

// Parses Prometheus' answer to a query. kInvalidArgument if it is a failure or something else.
base::Result<std::vector<MetricSample>> ParseQueryAnswer(std::string_view json);
// Parses the text format of exporters; ignores other lines.
std::vector<MetricSample> ParseExposition(std::string_view text);
// Joins the samples of each GPU and pod; sorted by node and index.
std::vector<GpuMetric> ToGpuMetrics(const std::vector<MetricSample>& samples);

// All GPUs of the cluster in one request, to the embedded cluster or to the Prometheus at
// $PROMETHEUS_ADDRESS or `prometheus_address` in Arena's configuration; under Arena's name also to
// a Prometheus among the cluster's services. Empty if none of them exists. Blocks for at most 10 s;
// an error names what did not answer.
base::Result<std::vector<GpuMetric>> FetchGpuMetrics(cluster::Client& client,
                                                     const Context& context);
// The same, but logs a failure as a warning and returns none.
std::vector<GpuMetric> GpuMetricsOrNone(cluster::Client& client, const Context& context);

// The GPUs of one pod, by index.
std::vector<GpuMetric> MetricsOfPod(const std::vector<GpuMetric>& metrics,
                                    std::string_view pod_namespace, std::string_view pod);

// What is known of several GPUs together: their mean, and the sum of their memory.
struct GpuUse {
  double duty_cycle = 0;   // percent
  double memory_used = 0;  // bytes
};
// The use of the GPUs that a rank has among its pod's (api::GpusOfRank); nullopt if no duty cycle
// is known.
std::optional<GpuUse> UseOfRank(const std::vector<GpuMetric>& of_pod, size_t local_rank,
                                size_t ranks);

// "35.0%"; "N/A" if unknown.
std::string DutyCycleText(const GpuMetric& metric);
// "1024.0/15360.0(MiB)"; "N/A" if unknown.
std::string MemoryText(const GpuMetric& metric);

}  // namespace arena
