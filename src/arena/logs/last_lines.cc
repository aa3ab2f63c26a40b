#include "arena/logs/last_lines.h"

#include "api/object.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/rank_lines.h"
#include "base/strings.h"

namespace arena {
namespace {

struct PodOfLog {
  const text::Json* pod = nullptr;
  bool is_gone = false;
};

PodOfLog FindPod(const RunRecord& run, std::string_view name) {
  if (const text::Json* pod = run.job.Pod(name)) return {pod, run.deleted.has_value()};
  for (auto pod = run.past_pods.rbegin(); pod != run.past_pods.rend(); ++pod) {
    if (api::Name(*pod) == name) return {&*pod, true};
  }
  return {};
}

}  // namespace

std::string LastLinesOf(cluster::Client& client, const RunRecord& run, int64_t lines) {
  const TrainingJob& job = run.job;
  PodOfLog read = FindPod(run, job.summary.first_failure.instance);
  if (read.pod == nullptr) read = FindPod(run, job.summary.chief_name);
  if (read.pod == nullptr && !job.pods.empty()) {
    read = {&job.pods.front(), run.deleted.has_value()};
  }
  if (read.pod == nullptr) return job.summary.last_lines;
  const std::string name(api::Name(*read.pod));
  cluster::LogOptions options;
  options.tail_lines = lines;
  if (job.Pod(name) != nullptr) {
    const auto container = ContainerToRead(job, name, "");
    if (!container) return "";
    options.container = *container;
  }
  if (read.is_gone) options.pod_uid = api::Uid(*read.pod);
  const auto stream = client.Logs(job.summary.namespace_name, name, options);
  std::string text;
  while (stream) {
    const auto bytes = (*stream)->Read();
    if (!bytes || !*bytes) break;
    text += **bytes;
  }
  const RankMap map = RankMap::Of(job.job);
  std::string out;
  for (const std::string& line : base::Split(text, '\n')) {
    if (!TakeBar(map, name, line)) out += line + "\n";
  }
  return out.empty() ? job.summary.last_lines : out;
}

}  // namespace arena
