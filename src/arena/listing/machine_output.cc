#include "arena/listing/machine_output.h"

#include <algorithm>

#include "arena/jobs/progress.h"

namespace arena {

std::vector<GpuMetric> MetricsOfRunning(cluster::Client& client, const Context& context,
                                        const std::vector<TrainingJob>& jobs) {
  // Those that a topology's scheduler gives (aliyun.com/gpu) count with the instances only.
  const auto has_gpu = [](const api::InstanceSummary& each) { return each.requested_gpus > 0; };
  const bool has_gpus = std::any_of(jobs.begin(), jobs.end(), [&](const TrainingJob& job) {
    return job.summary.status == "RUNNING" &&
           (job.summary.allocated_gpus > 0 ||
            std::any_of(job.summary.instances.begin(), job.summary.instances.end(), has_gpu));
  });
  if (!has_gpus) return {};
  return GpuMetricsOrNone(client, context);
}

std::string RenderJobs(cluster::Client& client, const Context& context,
                       const std::vector<TrainingJob>& jobs, const std::string& namespace_name,
                       Format format) {
  std::map<std::string, std::string> tensorboards;
  if (!jobs.empty()) tensorboards = TensorboardUrls(client, namespace_name);
  const std::vector<GpuMetric> metrics = MetricsOfRunning(client, context, jobs);
  const bool has_progress = KeysFor(context) == Keys::kAll;
  std::map<std::string, std::vector<runs::SourceProgress>> progress;
  if (has_progress && !jobs.empty()) progress = ProgressOfRunning(client, context, jobs);
  text::Array array;
  for (const TrainingJob& job : jobs) {
    const auto tensorboard = tensorboards.find(KeyOf(job.summary));
    array.push_back(JobToJson(
        job, tensorboard == tensorboards.end() ? std::nullopt : std::optional(tensorboard->second),
        metrics, KeysFor(context)));
    if (has_progress) {
      array.back().as_object()["progress"] = SourcesToJson(progress[job.summary.uid]);
    }
  }
  return format == Format::kJson ? RenderJson(array) : RenderYaml(array);
}

}  // namespace arena
