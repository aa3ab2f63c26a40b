// `show`: shows what a run was and how it went, even if its job no longer exists.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/complete_names.h"
#include "arena/history/facts.h"
#include "arena/history/run_document.h"
#include "arena/history/trials.h"
#include "arena/jobs/job_output.h"
#include "arena/listing/history.h"
#include "arena/logs/last_lines.h"
#include "arena/logs/log_progress.h"
#include "arena/run/notify.h"
#include "arena/run/sweep_table.h"
#include "arena/submit/job/objects.h"
#include "arena/verbs.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

constexpr int64_t kLastLines = 10;
constexpr int64_t kShownPoints = 1000;  // of each scalar

std::string LocalTimeOf(std::string_view rfc3339) {
  const auto time = base::ParseRfc3339(rfc3339);
  return time ? LocalTime(*time) : "-";
}

std::string CodeLine(const RunRecord& run, const RunFacts& facts) {
  const std::string snapshot(api::Annotation(run.job.job, api::kSnapshotAnnotation));
  const std::string_view commit = api::Annotation(run.job.job, api::kCommitAnnotation);
  std::string text = snapshot.empty() ? "" : "snapshot " + snapshot.substr(0, 12);
  if (facts.note) {
    const std::string& root = facts.note->root;
    text += fmt::format("{}{}", text.empty() ? "the folder " : " of ", root);
  }
  if (!commit.empty()) {
    text += fmt::format("{}commit {}{}", text.empty() ? "" : ", ", commit.substr(0, 7),
                        facts.note ? DescribeChanges(facts.note->changes) : "");
  }
  return text;
}

// Breaks the names into lines that fit a terminal.
std::string NamesOf(const std::map<std::string, std::string>& variables) {
  constexpr size_t kWidth = 80;
  std::string text;
  std::string line = " ";
  for (const auto& [name, digest] : variables) {
    if (line.size() > 1 && line.size() + 1 + name.size() > kWidth) {
      text += line + "\n";
      line = " ";
    }
    line += " " + name;
  }
  return text + line + "\n";
}

std::string Indented(std::string_view text) {
  std::string lines;
  for (const std::string& line : base::Split(base::Trim(text), '\n')) lines += "  " + line + "\n";
  return lines;
}

std::string RenderRun(const RunRecord& run, const RunFacts& facts,
                      const std::vector<std::string>& progress, const std::string& last_lines,
                      const Context& context, const StatePainter& painted) {
  const api::TrainingSummary& summary = run.job.summary;
  cli::Table head;
  const auto add = [&head](std::string name, std::string value) {
    if (!value.empty()) head.Row({name + ":", std::move(value)});
  };
  add("Run", fmt::format("{} ({})", summary.name, run.id()));
  add("Status",
      painted(summary.status) + (summary.reason.empty() ? "" : ": " + ReasonToShow(summary)));
  add("By", std::string(api::Annotation(run.job.job, kUserAnnotation)));
  add("Created", LocalTime(summary.created));
  if (summary.start_time) add("Started", LocalTime(*summary.start_time));
  if (summary.completion_time && summary.status != kDeletedStatus) {
    add("Ended", LocalTime(*summary.completion_time));
  }
  if (run.deleted && context.cluster_is_this_machine) add("Deleted", LocalTime(*run.deleted));
  if (run.deleted && !context.cluster_is_this_machine) {
    add("Gone",
        fmt::format("from the cluster; as this machine saw it last, {}", LocalTime(*run.deleted)));
  }
  add("Duration", base::ShortDuration(summary.duration));
  for (const std::string& line : progress) add("Progress", line);
  add("Notice", NoticeOf(run.job.job));
  add("Code", CodeLine(run, facts));
  add("Files", facts.folder);
  if (!facts.python.interpreter.empty()) {
    add("Python",
        fmt::format("{}, {} packages", facts.python.interpreter, facts.python.packages.size()));
  }
  std::string variables;
  for (const auto& [name, value] : facts.spec) {
    if (name.starts_with("env ")) {
      variables += fmt::format("  {}={}\n", name.substr(4), value);
    } else if (name != "image" || value != "host") {
      std::string shown = name;
      shown.front() = base::ToUpper(shown.substr(0, 1)).front();
      add(shown, value);
    }
  }
  std::string text = head.Render();
  if (!variables.empty()) text += "\nVariables:\n" + variables;
  std::map<std::string, std::string> inherited;
  if (facts.note) inherited = facts.note->environment;
  for (const auto& [name, value] : facts.spec) {
    if (name.starts_with("env ")) inherited.erase(name.substr(4));
  }
  if (!inherited.empty()) {
    text += fmt::format("\nAnd {} of your environment:\n{}", inherited.size(), NamesOf(inherited));
  }
  if (const auto attempts = AttemptsOf(run); !attempts.empty()) {
    cli::Table table("  ");
    table.Row({"INSTANCE", "STATUS", "ATTEMPT", "EXIT", "STARTED", "ENDED", "NODE"});
    for (const Attempt& attempt : attempts) {
      table.Row({attempt.instance, attempt.status, fmt::to_string(attempt.number),
                 attempt.exit_code ? fmt::to_string(*attempt.exit_code) : "-",
                 LocalTimeOf(attempt.started), LocalTimeOf(attempt.ended), attempt.node});
    }
    text += "\nInstances:\n" + table.Render();
  }
  if (!last_lines.empty()) text += "\nLast lines:\n" + Indented(last_lines);
  return text;
}

struct ShowFlags {
  std::string output, best;
  bool is_max = false, is_min = false;
};

// Fails only if the caller asked for the best trials.
base::Result<std::vector<TrialRow>> KnownTrials(cluster::Client& client, const RunRecord& run,
                                                const std::string& folder,
                                                const SweepQuery& query) {
  auto rows = TrialsOf(client, run, folder);
  if (rows || !query.best.empty()) return rows;
  base::LogWarn("{}", rows.error().message);
  return std::vector<TrialRow>();
}

base::Result<int> RunShow(Context& context, const ShowFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  TRY_ASSIGN(const RunRecord run, FindRun(*client, context, call.args[0]));
  const RunFacts facts = FactsOf(run, context.environment);
  const SweepQuery query{flags.best, flags.is_max};
  const bool is_sweep = HasTrials(run, facts.folder);
  if (!flags.best.empty() && !is_sweep) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("--best is for a sweep, and {} is none", run.job.summary.name));
  }
  if (IsForMachines(format)) {
    text::Json json = RunDocument(run, facts, context.clock.Now());
    json.as_object()["progress"] =
        ProgressWithLog(*client, context, run.job, kShownPoints, Times::kGiven);
    if (is_sweep) {
      TRY_ASSIGN(std::vector<TrialRow> rows, KnownTrials(*client, run, facts.folder, query));
      TRY_ASSIGN(json.as_object()["trials"], TrialsToJson(std::move(rows), query));
    }
    TRY(call.out.Write(RenderDocument(json, format)));
    return 0;
  }
  std::string trials;
  if (is_sweep) {
    TRY_ASSIGN(std::vector<TrialRow> rows, KnownTrials(*client, run, facts.folder, query));
    if (!rows.empty() || !flags.best.empty()) {
      TRY_ASSIGN(trials, RenderTrials(std::move(rows), query));
    }
  }
  // A user who asks for the best trials wants only the table.
  if (!flags.best.empty()) {
    TRY(call.out.Write(trials));
    return 0;
  }
  // In the lines of many trials the progress of the sweep cannot be seen.
  std::vector<std::string> progress;
  if (!is_sweep) progress = ProgressLines(SourcesIn(ProgressWithLog(*client, context, run.job, 0)));
  TRY(call.out.Write(RenderRun(run, facts, progress, LastLinesOf(*client, run, kLastLines), context,
                               PainterFor(context, call))));
  if (!trials.empty()) TRY(call.out.Write("\nTrials:\n" + trials));
  return 0;
}

}  // namespace

void AddShow(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("show RUN", "Show a run and its result, even if it was deleted")
                           .Args(cli::ExactArgs(1))
                           .Help("arena/history/show", context.program);
  auto flags = std::make_shared<ShowFlags>();
  AddDocumentFlag(verb.flags(), &flags->output);
  verb.flags().String(&flags->best, "best", "",
                      "for a sweep: only its trials, sorted by this `METRIC`, smallest first");
  verb.flags().Bool(&flags->is_max, "max", false, "with --best: largest first");
  verb.flags().Bool(&flags->is_min, "min", false, "with --best: smallest first (the default)");
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    const char* why = flags->is_max && flags->is_min ? "--max and --min contradict each other"
                      : flags->best.empty() && (flags->is_max || flags->is_min)
                          ? "--max and --min are for --best"
                          : nullptr;
    if (why == nullptr) return {};
    return base::Fail(base::Code::kInvalidArgument, why);
  });
  CompleteOneJob(verb, context);
  verb.Run([flags, &context](cli::Invocation& call) { return RunShow(context, *flags, call); });
}

}  // namespace arena
