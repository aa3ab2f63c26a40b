#include "arena/listing/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/job/command.h"
#include "api/names.h"
#include "api/object.h"
#include "arena/jobs/job_output.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "cli/table.h"

namespace arena {
namespace {

constexpr size_t kLeastCommand = 20;

std::string OneLine(std::string text) {
  for (char& c : text) c = c == '\n' || c == '\t' ? ' ' : c;
  return text;
}

// What `muster run -n` puts before a program says little, and takes the room of what does.
std::string WithoutOurFlags(std::string command) {
  constexpr std::string_view kLauncher = "torchrun --role=", kTee = " --tee=3 ";
  if (!command.starts_with(kLauncher)) return command;
  const size_t label_end = command.find(' ', kLauncher.size());
  if (label_end == command.npos || command.substr(label_end, kTee.size()) != kTee) return command;
  return "torchrun " + command.substr(label_end + kTee.size());
}

// The command takes what the terminal has left.
std::string RenderHistory(const std::vector<RunRecord>& runs, const HistoryQuery& query,
                          const StatePainter& painted, int width) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> heads = {"ID", "NAME", "STATUS", "CREATED", "DURATION"};
  if (query.all_namespaces) heads.insert(heads.begin() + 2, "NAMESPACE");
  if (query.output == "wide") heads.insert(heads.end(), {"COMMIT", "DELETED"});
  rows.push_back(heads);
  for (const RunRecord& run : runs) {
    const api::TrainingSummary& summary = run.job.summary;
    std::vector<std::string> row = {run.id(), summary.name, painted(summary.status),
                                    LocalTime(summary.created),
                                    base::ShortDuration(summary.duration)};
    if (query.all_namespaces) row.insert(row.begin() + 2, summary.namespace_name);
    if (query.output == "wide") {
      row.emplace_back(api::Annotation(run.job.job, api::kCommitAnnotation).substr(0, 7));
      row.push_back(run.deleted ? LocalTime(*run.deleted) : "");
    }
    rows.push_back(std::move(row));
  }
  size_t used = 0;
  for (size_t i = 0; i < heads.size(); ++i) {
    size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, cli::TextWidth(row[i]));
    used += widest + 2;
  }
  rows[0].push_back("COMMAND");
  for (size_t i = 0; i < runs.size(); ++i) {
    std::string command = OneLine(api::CommandOf(runs[i].job.job));
    if (query.output != "wide") command = WithoutOurFlags(std::move(command));
    if (width > 0 && query.output != "wide") {
      const size_t left = static_cast<size_t>(width) > used ? static_cast<size_t>(width) - used : 0;
      command = cli::ElideMiddle(command, std::max(left, kLeastCommand));
    }
    rows[i + 1].push_back(std::move(command));
  }
  cli::Table table;
  for (auto& row : rows) table.Row(std::move(row));
  return table.Render();
}

}  // namespace

base::Status ReadCommands(cluster::Client& client, std::vector<RunRecord>& runs) {
  for (RunRecord& run : runs) {
    if (run.deleted) continue;
    const api::TrainingSummary& summary = run.job.summary;
    auto whole = client.Get(api::kPyTorchJobs, summary.namespace_name, summary.name);
    if (whole) {
      run.job.job = std::move(*whole);
    } else if (whole.error().code != base::Code::kNotFound) {
      return base::Fail(std::move(whole.error()));
    }
  }
  return {};
}

text::Json RunToJson(const RunRecord& run, base::Time now) {
  const api::TrainingSummary& summary = run.job.summary;
  const text::Json& job = run.job.job;
  const auto time = [](const std::optional<base::Time>& at) {
    return at ? text::Json(base::FormatRfc3339(*at)) : text::Json(nullptr);
  };
  const bool has_ended = summary.completion_time.has_value();
  const base::Time start = summary.start_time.value_or(summary.created);
  const base::Time end = summary.completion_time.value_or(run.deleted.value_or(now));
  return text::Object{
      {"id", run.id()},
      {"uid", api::Uid(job)},
      {"name", summary.name},
      {"namespace", summary.namespace_name},
      {"status", summary.status},
      {"reason", summary.reason},
      {"created", base::FormatRfc3339(summary.created)},
      {"started", time(summary.start_time)},
      {"ended", has_ended ? time(summary.completion_time) : text::Json(nullptr)},
      {"deleted", time(run.deleted)},
      {"seconds", std::chrono::duration_cast<std::chrono::seconds>(end - start).count()},
      {"command", api::CommandOf(job)},
      {"snapshot", api::Annotation(job, api::kSnapshotAnnotation)},
      {"commit", api::Annotation(job, api::kCommitAnnotation)}};
}

base::Result<int> PrintHistory(Context& context, const HistoryQuery& query, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(query.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  const std::string namespace_name = query.all_namespaces ? "" : context.Namespace();
  TRY_ASSIGN(KnownRuns list, ListRuns(*client, context, namespace_name, query.limit));
  TRY(ReadCommands(*client, list.runs));
  if (IsForMachines(format)) {
    text::Array runs;
    for (const RunRecord& run : list.runs) runs.push_back(RunToJson(run, context.clock.Now()));
    const text::Json json(std::move(runs));
    TRY(call.out.Write(RenderDocument(json, format)));
    return 0;
  }
  TRY(Print(context, call,
            RenderHistory(list.runs, query, PainterFor(context, call),
                          call.out.IsTerminal() ? call.out.Width() : 0)));
  const int64_t older = list.total - static_cast<int64_t>(list.runs.size());
  if (older > 0)
    base::LogInfo("{} older ones: `{} history --limit 0` lists all", older, context.program);
  if (context.cluster_is_this_machine) return 0;
  const auto gone = std::count_if(list.runs.begin(), list.runs.end(),
                                  [](const RunRecord& run) { return run.deleted.has_value(); });
  const int64_t standing = static_cast<int64_t>(list.runs.size()) - gone;
  base::LogInfo("{} existing job{}, and {} gone, submitted from here, as last seen", standing,
                standing == 1 ? "" : "s", gone);
  return 0;
}

void AddHistory(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("history", "List all runs, including deleted ones")
                           .Args(cli::NoArgs())
                           .Help("arena/listing/history", context.program);
  auto query = std::make_shared<HistoryQuery>();
  cli::FlagSet& set = verb.flags();
  set.Int(&query->limit, "limit", kUsualLimit, "at most this many; 0 for all");
  set.Bool(&query->all_namespaces, "all-namespaces", false, "in every namespace").Short('A');
  set.String(&query->output, "output", "",
             "wide (commits, and when they were deleted), json or yaml")
      .Short('o')
      .Choices({"json", "yaml", "wide"});
  verb.Check([query](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(query->output, call));
    if (query->limit >= 0) return {};
    return base::Fail(base::Code::kInvalidArgument, "--limit is invalid: it must be at least 0");
  });
  verb.Run(
      [query, &context](cli::Invocation& call) { return PrintHistory(context, *query, call); });
}

}  // namespace arena
