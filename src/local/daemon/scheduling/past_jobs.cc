#include "local/daemon/scheduling/past_jobs.h"

#include <algorithm>

#include "api/job/command.h"
#include "api/job/pytorch_job.h"
#include "api/object.h"
#include "api/pod.h"

namespace local::daemon {
namespace {

std::optional<base::Time> EndOf(const api::JobStatus& status, std::optional<base::Time> deleted) {
  if (status.completion_time) return status.completion_time;
  for (const char* type : {"Succeeded", "Failed"}) {
    if (status.Is(type)) return status.Find(type)->last_transition_time;
  }
  return deleted;
}

}  // namespace

std::optional<scheduler::PastRun> ReadPastRun(const text::Json& job,
                                              std::optional<base::Time> deleted) {
  auto parsed = api::ParsePyTorchJob(job);
  if (!parsed) return std::nullopt;
  api::SetDefaults(*parsed);
  // The condition stays after the job's end, with status False: it shows since when the job ran
  // last.
  const api::Condition* const running = parsed->status.Find("Running");
  const auto end = EndOf(parsed->status, deleted);
  if (running == nullptr || !running->last_transition_time || !end) return std::nullopt;
  scheduler::PastRun run;
  run.command = api::CommandOf(job);
  run.started = *running->last_transition_time;
  run.ended = *end;
  if (run.ended < run.started) return std::nullopt;
  run.gang.key = parsed->namespace_name + "/" + parsed->name + "/" + parsed->uid;
  run.gang.created = api::CreationTime(job).value_or(run.started);
  run.gang.active_since = parsed->status.start_time;
  if (parsed->run_policy.active_deadline_seconds) {
    run.gang.active_deadline = std::chrono::seconds(*parsed->run_policy.active_deadline_seconds);
  }
  for (const auto& [type, spec] : parsed->replica_specs) {
    const api::ResourceRequest request = api::PodRequest(spec.template_json);
    for (int i = 0; i < spec.Replicas(); ++i) {
      scheduler::Pod pod;
      pod.uid = run.gang.key + "/" + type + std::to_string(i);
      pod.requests = {request.gpus, request.cpu_milli, request.memory_bytes};
      run.gang.pods.push_back(std::move(pod));
    }
  }
  return run;
}

void SortByEnd(std::vector<scheduler::PastRun>& runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.ended < b.ended; });
}

}  // namespace local::daemon
