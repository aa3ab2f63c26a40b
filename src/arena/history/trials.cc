#include "arena/history/trials.h"

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/log_lines.h"
#include "arena/run/sweep_files.h"
#include "arena/run/sweep_pod.h"

namespace arena {
namespace {

// Returns those lines of the log that are results; the log may have any length.
base::Result<std::string> ReadResults(net::BodyStream& log) {
  std::string results;
  std::string line;
  while (true) {
    TRY_ASSIGN(const std::optional<std::string> bytes, log.Read());
    if (!bytes) return results;
    for (const char c : *bytes) {
      if (c != '\n') {
        if (line.size() < kMaxLogLine) line += c;
        continue;
      }
      if (IsTrialResult(line)) results += line + "\n";
      line.clear();
    }
  }
}

}  // namespace

bool HasTrials(const RunRecord& run, const std::string& folder) {
  return IsSweep(folder) || !api::Annotation(run.job.job, api::kTrialsAnnotation).empty();
}

base::Result<std::vector<TrialRow>> TrialsOf(cluster::Client& client, const RunRecord& run,
                                             const std::string& folder) {
  if (IsSweep(folder)) return ReadTrials(folder);
  const TrainingJob& job = run.job;
  const std::string& instance = job.summary.chief_name;
  if (run.deleted || job.Pod(instance) == nullptr) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("the results of {} are in the log of its instance, which is not "
                                  "there{}",
                                  job.summary.name, run.deleted ? " any more" : ""));
  }
  const auto container = ContainerToRead(job, instance, "");
  if (!container) {
    return base::Fail(
        container.error().Wrap(fmt::format("no trial of {} has ended yet", job.summary.name)));
  }
  cluster::LogOptions options;
  options.container = *container;
  TRY_ASSIGN(const auto log, client.Logs(job.summary.namespace_name, instance, options));
  TRY_ASSIGN(const std::string results, ReadResults(*log));
  return TrialsOfLog(results);
}

}  // namespace arena
