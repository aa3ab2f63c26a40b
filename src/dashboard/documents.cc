#include "dashboard/documents.h"

#include <fmt/format.h>

#include "answers/verdict.h"
#include "api/object.h"
#include "arena/history/comparison.h"
#include "arena/history/facts.h"
#include "arena/history/mask.h"
#include "arena/history/ranks.h"
#include "arena/history/report_output.h"
#include "arena/history/reports.h"
#include "arena/history/run_document.h"
#include "arena/history/trials.h"
#include "arena/history/verdict_json.h"
#include "arena/jobs/forecast.h"
#include "arena/jobs/gpu_metrics.h"
#include "arena/jobs/job_events.h"
#include "arena/jobs/jobs.h"
#include "arena/jobs/pod_use.h"
#include "arena/listing/history.h"
#include "arena/listing/machine_output.h"
#include "arena/listing/records.h"
#include "arena/logs/evidence.h"
#include "arena/logs/log_progress.h"
#include "arena/run/sweep_table.h"
#include "base/log.h"
#include "dashboard/machine.h"
#include "dashboard/masked.h"
#include "dashboard/progress.h"

namespace dashboard {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMostCompared = 5;
// Each forecast simulates the queue.
constexpr size_t kMostStarts = 20;

}  // namespace

arena::Context InNamespace(const arena::Context& context, const std::string& namespace_name) {
  arena::Context in = context;
  in.flags.namespace_name = namespace_name;
  return in;
}

base::Result<text::Json> RunPage(cluster::Client& client, const arena::Context& context,
                                 const std::string& run) {
  TRY_ASSIGN(const arena::RunRecord found, arena::FindRun(client, context, run));
  const arena::RunFacts facts = arena::FactsOf(found, context.environment);
  text::Object page{{"run", arena::RunDocument(found, facts, context.clock.Now())}};
  if (arena::HasTrials(found, facts.folder)) {
    if (auto rows = arena::TrialsOf(client, found, facts.folder)) {
      page["trials"] = *arena::TrialsToJson(std::move(*rows), {});
    }
  }
  text::Json json(std::move(page));
  MaskSecrets(found.job.job, json);
  return json;
}

base::Result<text::Json> VerdictPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& run) {
  TRY_ASSIGN(const arena::RunRecord found, arena::FindRun(client, context, run));
  const arena::Judged judged = arena::VerdictOf(client, context, found);
  const auto fine = arena::NotFailed(found);
  text::Json json = text::Object{
      {"verdict", arena::VerdictToJson(judged.verdict, judged.evidence)},
      {"fine", fine ? text::Json(*fine) : text::Json(nullptr)},
      {"text", answers::Render(judged.verdict, judged.evidence, true, answers::kUsualWidth)}};
  MaskSecrets(found.job.job, json);
  return json;
}

base::Result<text::Json> DiffPage(cluster::Client& client, const arena::Context& context,
                                  const std::string& run) {
  TRY_ASSIGN(const arena::RunRecord found, arena::FindRun(client, context, run));
  const auto note = arena::NoteOf(context, found.job.job);
  if (!note || note->commit.empty() || !note->changes) {
    return Fail(Code::kNotFound,
                fmt::format("it is not known how the code of {} differed from a commit", run));
  }
  text::Json json =
      text::Object{{"commit", note->commit}, {"changes", *note->changes}, {"diff", note->diff}};
  MaskSecrets(found.job.job, json);
  const bool is_masked = text::GetString(json, {"diff"}) != note->diff;
  json.as_object()["isMasked"] = is_masked;
  return json;
}

base::Result<text::Json> ReportPage(cluster::Client& client, const arena::Context& context,
                                    const std::string& run) {
  TRY_ASSIGN(arena::RunRecord found, arena::FindRun(client, context, run));
  return arena::ReportToJson(arena::ReportOn(client, context, std::move(found)));
}

base::Result<text::Json> ReportsPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& namespace_name, const std::string& since,
                                     const std::string& by) {
  TRY(arena::CheckGrouping(by));
  TRY_ASSIGN(const base::Duration duration, arena::ReadSince(since));
  TRY_ASSIGN(const std::vector<arena::RunReport> reports,
             arena::ReportsSince(client, context, namespace_name, duration));
  text::Json json = arena::ReportsToJson(reports, by);
  text::EraseKeys(json.as_object(), {"runs"});
  return json;
}

base::Result<text::Json> ProgressPage(cluster::Client& client, const arena::Context& context,
                                      const std::string& run, int64_t points) {
  TRY_ASSIGN(const arena::RunRecord found, arena::FindRun(client, context, run));
  text::Json known = arena::ProgressWithLog(client, context, found.job, points);
  if (known.is_object()) {
    const text::Array* const sources = text::FindArray(known, {"sources"});
    const bool has_some = sources != nullptr && !sources->empty();
    known.as_object()["newest"] = has_some ? NewestOf(*sources) : text::Json(nullptr);
    return known;
  }
  return text::Object{
      {"uid", api::Uid(found.job.job)}, {"sources", text::Array()}, {"series", text::Array()}};
}

base::Result<text::Json> StripPage(cluster::Client& client, const arena::Context& context,
                                   const std::string& run, int64_t columns) {
  TRY_ASSIGN(const arena::RunRecord found, arena::FindRun(client, context, run));
  const std::string uid(api::Uid(found.job.job));
  text::Json known = arena::RanksOverTime(client, context, uid, columns);
  if (known.is_object()) return known;
  return text::Object{{"uid", uid}, {"from", 0}, {"step", 0}, {"ranks", text::Array()}};
}

base::Result<text::Json> RanksPage(cluster::Client& client, const arena::Context& context,
                                   const std::string& job) {
  TRY_ASSIGN(arena::TrainingJob found, arena::FindJob(client, context, context.Namespace(), job));
  arena::AddWordsOfEvents(client, context, found);
  arena::RankLogs logs;
  arena::LookAtRanks look;
  look.gpus = arena::MetricsOfRunning(client, context, {found});
  if (!context.cluster_is_this_machine) {
    auto uses =
        arena::UseOfPods(client, found.summary.namespace_name, arena::PodSelector(found.job));
    if (uses) look.uses = *std::move(uses);
  }
  return text::Object{
      {"ranks", arena::RanksToJson(arena::RanksOf(client, context, found, logs, look))}};
}

base::Result<text::Json> HistoryPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& namespace_name, int64_t limit) {
  TRY_ASSIGN(arena::KnownRuns known, arena::ListRuns(client, context, namespace_name, limit));
  TRY(arena::ReadCommands(client, known.runs));
  text::Array runs;
  for (const arena::RunRecord& run : known.runs) {
    text::Json json = arena::RunToJson(run, context.clock.Now());
    MaskSecrets(run.job.job, json);
    runs.push_back(std::move(json));
  }
  return text::Object{{"runs", std::move(runs)}, {"total", known.total}};
}

base::Result<text::Json> ComparePage(cluster::Client& client, const arena::Context& context,
                                     const std::vector<std::string>& runs) {
  if (runs.size() < 2 || runs.size() > kMostCompared) {
    return Fail(Code::kInvalidArgument,
                fmt::format("run is given {} times: two to {} runs are compared", runs.size(),
                            kMostCompared));
  }
  std::vector<arena::RunRecord> found;
  for (const std::string& run : runs) {
    TRY_ASSIGN(arena::RunRecord record, arena::FindRun(client, context, run));
    found.push_back(std::move(record));
  }
  text::Json json = arena::Comparison::Of(client, context, found).ToJson();
  for (const arena::RunRecord& run : found) MaskSecrets(run.job.job, json);
  return json;
}

base::Result<text::Json> StartsPage(cluster::Client& client, const arena::Context& context,
                                    const std::vector<std::string>& jobs) {
  if (jobs.size() > kMostStarts) {
    return Fail(Code::kInvalidArgument,
                fmt::format("job is given {} times: {} at most", jobs.size(), kMostStarts));
  }
  text::Object starts;
  for (const std::string& key : jobs) {
    const size_t slash = key.find('/');
    if (slash == std::string::npos) {
      return Fail(Code::kInvalidArgument, "job is invalid: give NAMESPACE/NAME");
    }
    auto forecast =
        arena::AskForecast(client, context, key.substr(0, slash), key.substr(slash + 1));
    // One that has started meanwhile has none.
    if (!forecast && forecast.error().code == Code::kUnavailable) {
      return Fail(std::move(forecast.error()));
    }
    if (forecast) starts[key] = *std::move(forecast);
  }
  return text::Object{{"starts", std::move(starts)}};
}

base::Result<text::Json> MachinePage(cluster::Client& client, const arena::Context& context) {
  TRY_ASSIGN(const cluster::ObjectList nodes, client.List(api::kNodes, {}));
  cluster::ListOptions options;
  options.field_selector = "status.phase!=Succeeded,status.phase!=Failed";
  TRY_ASSIGN(const cluster::ObjectList pods, client.List(api::kPods, options));
  // Without GPU metrics the page shows the rest.
  auto metrics = arena::FetchGpuMetrics(client, context);
  if (!metrics) base::LogDebug("GPU metrics: {}", metrics.error().message);
  return MachineDocument(nodes.items, pods.items,
                         metrics ? *metrics : std::vector<arena::GpuMetric>());
}

}  // namespace dashboard
