// Training jobs as JSON and YAML, shared by list, get and top job.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/gpu_metrics.h"
#include "arena/jobs/job_output.h"

namespace arena {

// GPU metrics if a running job asked for GPUs; otherwise empty, without a request.
std::vector<GpuMetric> MetricsOfRunning(cluster::Client& client, const Context& context,
                                        const std::vector<TrainingJob>& jobs);

// The jobs as an array. `namespace_name` is theirs; "" if they are in several namespaces.
std::string RenderJobs(cluster::Client& client, const Context& context,
                       const std::vector<TrainingJob>& jobs, const std::string& namespace_name,
                       Format format);

}  // namespace arena
