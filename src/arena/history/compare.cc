// `compare`: shows what differs between runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arena/app/complete_names.h"
#include "arena/folder/run_folder.h"
#include "arena/history/comparison.h"
#include "arena/jobs/job_output.h"
#include "arena/objects/diff_program.h"
#include "arena/verbs.h"
#include "base/printable.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxRuns = 10;

struct CompareFlags {
  std::string output;
  bool shows_all = false, shows_diff = false;
};

base::Status PrintDiff(const Context& context, const std::vector<FileChange>& changes) {
  const snapshot::Store store = RunFolder::Snapshots(context.environment);
  TRY_ASSIGN(const DiffFolders folders, DiffFolders::Make(context.environment));
  const auto content = [&store](const snapshot::File* file) -> base::Result<std::string> {
    return file == nullptr ? std::string() : store.ContentOf(*file);
  };
  for (const FileChange& change : changes) {
    TRY_ASSIGN(const std::string before, content(change.from));
    TRY_ASSIGN(const std::string after, content(change.to));
    std::string name = change.path();
    std::replace(name.begin(), name.end(), '/', '%');
    TRY(folders.Add(name, before, after));
  }
  TRY(folders.Show(context.environment));
  return {};
}

std::string RenderRows(const std::vector<RunRecord>& runs, const Comparison& comparison,
                       bool shows_all) {
  cli::Table table;
  std::vector<std::string> heads = {""};
  for (const RunRecord& run : runs) {
    heads.push_back(fmt::format("{} ({})", run.job.summary.name, run.id()));
  }
  table.Row(heads);
  for (const ComparedValue& row : comparison.values()) {
    if (!shows_all && !row.Differs()) continue;
    std::vector<std::string> cells = {row.name};
    for (std::string value : row.values) {
      for (char& c : value) c = c == '\n' ? ' ' : c;
      cells.push_back(std::move(value));
    }
    table.Row(std::move(cells));
  }
  const bool has_rows =
      std::any_of(comparison.values().begin(), comparison.values().end(),
                  [shows_all](const ComparedValue& row) { return shows_all || row.Differs(); });
  return table.Render() + (has_rows ? "" : "no known property differs\n");
}

base::Result<int> RunCompare(Context& context, const CompareFlags& flags, cli::Invocation& call) {
  TRY_ASSIGN(const Format format, FormatOf(flags.output, call));
  if (IsForMachines(format)) KeepOutputPure(context);
  TRY_ASSIGN(cluster::Client * client, context.connect(context));
  std::vector<RunRecord> runs;
  for (const std::string& name : call.args) {
    TRY_ASSIGN(RunRecord run, FindRun(*client, context, name));
    runs.push_back(std::move(run));
  }
  const Comparison comparison = Comparison::Of(*client, context, runs);
  if (IsForMachines(format)) {
    const text::Json json = comparison.ToJson();
    TRY(call.out.Write(RenderDocument(json, format)));
    return 0;
  }
  TRY(call.out.Write(RenderRows(runs, comparison, flags.shows_all)));
  for (size_t i = 1; i < runs.size(); ++i) {
    const std::vector<FileChange> changes = comparison.ChangesTo(i);
    if (changes.empty()) continue;
    TRY(call.out.Write(
        fmt::format("\nFiles of {} that differ from {}:\n", call.args[i], call.args[0])));
    for (const FileChange& change : changes) {
      TRY(call.out.Write(fmt::format("  {}{}\n", change.Mark(), base::Printable(change.path()))));
    }
    if (flags.shows_diff) TRY(PrintDiff(context, changes));
  }
  return 0;
}

}  // namespace

void AddCompare(cli::Command& root, Context& context) {
  cli::Command& verb = root.Add("compare RUN RUN...", "Show the differences between runs")
                           .Args(cli::MinArgs(2))
                           .Help("arena/history/compare", context.program);
  auto flags = std::make_shared<CompareFlags>();
  verb.flags().Bool(&flags->shows_all, "all", false, "show equal values, too");
  verb.flags().Bool(&flags->shows_diff, "diff", false,
                    "show the changed lines of code, as diff -u does");
  AddDocumentFlag(verb.flags(), &flags->output);
  verb.Check([flags](cli::Invocation& call) -> base::Status {
    TRY(FormatOf(flags->output, call));
    if (call.args.size() <= kMaxRuns) return {};
    return Fail(Code::kInvalidArgument, fmt::format("{} runs are too many for a table: at most {}",
                                                    call.args.size(), kMaxRuns));
  });
  verb.CompleteArgs(
      [&context](cli::Invocation&, std::string_view) { return CompleteJobNames(context); });
  verb.Run([flags, &context](cli::Invocation& call) { return RunCompare(context, *flags, call); });
}

}  // namespace arena
