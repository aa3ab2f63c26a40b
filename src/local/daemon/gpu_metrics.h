// GET /metrics/gpus: how busy this machine's GPUs are and which pods hold them, in Prometheus' text
// format with the names and labels of Alibaba's exporter, which Arena reads (compat/arena.md 4).
//
//   nvidia_gpu_duty_cycle{minor_number="0",namespace_name="default",pod_name="pt-master-0",...} 35
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/client.h"
#include "gpu/inventory.h"
#include "net/http/types.h"

namespace local::daemon {

inline constexpr std::string_view kGpuMetricsPath = "/metrics/gpus";

// Whether the request is for kGpuMetricsPath.
bool IsGpuMetricsRequest(const net::HttpRequest& request);

// Renders the page. `pods`: those of this node that have not ended; their annotations name the GPUs
// that they hold. Pure.
std::string RenderGpuMetrics(const gpu::Inventory& inventory, const std::vector<text::Json>& pods,
                             std::string_view node_name);

// Reads the GPUs only on request, once for all concurrent requests. Thread safe. Borrows the
// client; its destructor does not wait for a driver that hangs.
class GpuMetrics {
 public:
  GpuMetrics(cluster::Client& client, gpu::Places places, std::string node_name);
  ~GpuMetrics();
  // Returns at once.
  void Handle(std::shared_ptr<net::Responder> responder);

 private:
  struct State;
  static void Answer(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace local::daemon
