#include "arena/logs/last_lines.h"

#include <optional>

#include "api/object.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/pod_log.h"
#include "arena/logs/rank_lines.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr size_t kMostOfLastLines = 16 << 20;

// Returns the last pod with that name.
std::optional<PodOfRun> FindPod(const RunRecord& run, std::string_view name) {
  std::optional<PodOfRun> found;
  for (const PodOfRun& of : PodsOf(run)) {
    if (api::Name(*of.pod) == name) found = of;
  }
  return found;
}

}  // namespace

std::string LastLinesOf(cluster::Client& client, const RunRecord& run, int64_t lines) {
  const TrainingJob& job = run.job;
  auto read = FindPod(run, job.summary.first_failure.instance);
  if (!read) read = FindPod(run, job.summary.chief_name);
  if (!read && !job.pods.empty()) read = FindPod(run, api::Name(job.pods.front()));
  if (!read) return job.summary.last_lines;
  const std::string name(api::Name(*read->pod));
  cluster::LogOptions options;
  options.tail_lines = lines;
  if (job.Pod(name) != nullptr) {
    const auto container = ContainerToRead(job, name, "");
    if (!container) return "";
    options.container = *container;
  }
  if (read->is_gone) options.pod_uid = api::Uid(*read->pod);
  const std::string text = ReadPodLog(client, *read->pod, options, kMostOfLastLines).value_or("");
  const RankMap map = RankMap::Of(job.job);
  std::string out;
  for (const std::string& line : base::Split(text, '\n')) {
    if (!TakeBar(map, name, line)) out += line + "\n";
  }
  return base::Trim(out).empty() ? job.summary.last_lines : out;
}

}  // namespace arena
