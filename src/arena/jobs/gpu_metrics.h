// How busy GPUs are, as Prometheus or the embedded cluster's daemon says (compat/arena.md 4).
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
  std::string pod;                    // "" when nobody holds it
  std::optional<double> duty_cycle;   // percent
  std::optional<double> memory_used;  // bytes
  std::optional<double> memory_total;
};

// One value as an exporter has it: its name and labels are those of Alibaba's exporter
// (nvidia_gpu_duty_cycle ...) or of NVIDIA's (DCGM_FI_DEV_GPU_UTIL ...).
struct MetricSample {
  std::map<std::string, std::string, std::less<>> labels;  // with __name__
  double value = 0;
};

// What Prometheus answers to a query. kInvalidArgument when it is something else, or a failure.
base::Result<std::vector<MetricSample>> ParseQueryAnswer(std::string_view json);
// The text format that exporters speak; lines that are not of it are left out.
std::vector<MetricSample> ParseExposition(std::string_view text);
// Samples of one GPU and pod put together, by node and index.
std::vector<GpuMetric> ToGpuMetrics(const std::vector<MetricSample>& samples);

// Of every GPU of the cluster in one request: from the embedded cluster, or from the Prometheus at
// $PROMETHEUS_ADDRESS or `prometheus_address` of Arena's configuration. Nothing where there is no
// source. Blocks for 10 s at most; an error says what did not answer.
base::Result<std::vector<GpuMetric>> FetchGpuMetrics(cluster::Client& client,
                                                     const Context& context);
// The same; a failure is logged as a warning, and leaves nothing.
std::vector<GpuMetric> GpuMetricsOrNone(cluster::Client& client, const Context& context);

// Those of one pod, by index.
std::vector<GpuMetric> MetricsOfPod(const std::vector<GpuMetric>& metrics,
                                    std::string_view pod_namespace, std::string_view pod);

// "35.0%"; "N/A" when it is not known.
std::string DutyCycleText(const GpuMetric& metric);
// "1024.0/15360.0(MiB)"; "N/A" likewise.
std::string MemoryText(const GpuMetric& metric);

}  // namespace arena
