// What pods use, as a Kubernetes cluster's metrics API reports it (metrics.k8s.io/v1beta1, which
// metrics-server serves).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// The use of all containers of a pod, within about the last minute.
struct PodUse {
  double cpu = 0;      // processors
  int64_t memory = 0;  // bytes, the working set
};

// By pod, of the pods that a label selector matches; one request. kInvalidArgument if the cluster
// does not serve the metrics API, kUnavailable if what serves it is away.
base::Result<std::map<std::string, PodUse>> UseOfPods(cluster::Client& client,
                                                      const std::string& namespace_name,
                                                      const std::string& label_selector);

// From one PodMetrics. Quantities that do not parse count as zero.
PodUse ReadPodUse(const text::Json& metrics);

}  // namespace arena
