// Training jobs as JSON and YAML, with all that programs are told: what list, get and top job
// share.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/gpu_metrics.h"
#include "arena/jobs/job_output.h"

namespace arena {

// Of the GPUs, when a job that runs asked for any; else nothing, and nobody is asked.
std::vector<GpuMetric> MetricsOfRunning(cluster::Client& client, const Context& context,
                                        const std::vector<TrainingJob>& jobs);

// The array of them. `namespace_name` is theirs, "" for several.
std::string RenderJobs(cluster::Client& client, const Context& context,
                       const std::vector<TrainingJob>& jobs, const std::string& namespace_name,
                       Format format);

}  // namespace arena
