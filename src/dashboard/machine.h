// The Machine screen: what each node has, and which pods use it. Pure.
#pragma once

#include <vector>

#include "arena/jobs/gpu_metrics.h"
#include "text/json.h"

namespace dashboard {

// {"nodes": [{"name", "ready", "cpuMilli", "memoryBytes", "gpus",
//             "requested": {"cpuMilli", "memoryBytes", "gpus"},
//             "devices": [{"index", "pod", "job", "dutyCycle", "memoryUsed", "memoryTotal"}],
//             "pods": [{"name", "namespace", "job", "status", "cpuMilli", "memoryBytes",
//             "gpus"}]}]}
// Pods that have ended use nothing. Unknown measurements of a GPU are null; its pod is "" if the
// cluster does not say which pod has it.
text::Json MachineDocument(const std::vector<text::Json>& nodes,
                           const std::vector<text::Json>& pods,
                           const std::vector<arena::GpuMetric>& metrics);

}  // namespace dashboard
