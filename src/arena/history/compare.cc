// `compare`: what differs between runs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/complete_names.h"
#include "arena/folder/run_folder.h"
#include "arena/history/facts.h"
#include "arena/jobs/job_output.h"
#include "arena/objects/diff_program.h"
#include "arena/verbs.h"
#include "base/strings.h"
#include "cli/table.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxRuns = 10;
constexpr std::string_view kAbsent = "-";

struct CompareFlags {
  std::string output;
  bool shows_all = false, shows_diff = false;
};

// A row of the table: a value for each run.
struct Row {
  std::string name;
  std::vector<std::string> values;
  bool Differs() const {
    return std::any_of(values.begin(), values.end(),
                       [this](const std::string& value) { return value != values.front(); });
  }
};

class Rows {
 public:
  explicit Rows(size_t runs) : runs_(runs) {}
  void Set(size_t run, const std::string& name, std::string value) {
    auto found =
        std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.name == name; });
    if (found == rows_.end()) {
      rows_.push_back({name, std::vector<std::string>(runs_, std::string(kAbsent))});
      found = rows_.end() - 1;
    }
    if (!value.empty()) found->values[run] = std::move(value);
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  size_t runs_;
  std::vector<Row> rows_;
};

void AddOutcome(Rows& rows, size_t at, const RunRecord& run) {
  const api::TrainingSummary& summary = run.job.summary;
  rows.Set(at, "status", summary.status);
  rows.Set(at, "reason", summary.reason);
  rows.Set(at, "created", LocalTime(summary.created));
  rows.Set(at, "duration", base::ShortDuration(summary.duration));
}

void AddRun(Rows& rows, size_t at, const RunRecord& run, const RunFacts& facts) {
  for (const auto& [name, value] : facts.spec) rows.Set(at, name, value);
  rows.Set(at, "commit",
           std::string(api::Annotation(run.job.job, api::kCommitAnnotation).substr(0, 7)));
  rows.Set(at, "code",
           std::string(api::Annotation(run.job.job, api::kSnapshotAnnotation).substr(0, 12)));
  rows.Set(at, "python", facts.python.interpreter);
  for (const std::string& package : facts.python.packages) {
    const size_t blank = package.find(' ');
    rows.Set(at, "package " + package.substr(0, blank),
             blank == std::string::npos ? package : package.substr(blank + 1));
  }
  if (!facts.note) return;
  // Values are told apart, and not told.
  for (const auto& [name, digest] : facts.note->environment) {
    rows.Set(at, "variable " + name, "#" + digest.substr(0, 6));
  }
}

struct CodeOfRun {
  std::string hash;
  std::optional<snapshot::Snapshot> snapshot;
};

CodeOfRun ReadCode(const Context& context, const RunRecord& run) {
  CodeOfRun code{std::string(api::Annotation(run.job.job, api::kSnapshotAnnotation)), std::nullopt};
  if (code.hash.empty()) return code;
  if (auto read = RunFolder::Snapshots(context.environment).Read(code.hash)) {
    code.snapshot = std::move(*read);
  }
  return code;
}

// A file that is not the same in two snapshots; nullptr where it is not at all.
struct FileChange {
  const snapshot::File* from = nullptr;
  const snapshot::File* to = nullptr;

  const std::string& path() const { return from != nullptr ? from->path : to->path; }
  // "+ new", "- old", "~ changed".
  std::string Text() const {
    return (from == nullptr ? "+ " : to == nullptr ? "- " : "~ ") + path();
  }
};

// Between the first run and another one; they live as long as both.
std::vector<FileChange> ChangesOf(const CodeOfRun& first, const CodeOfRun& other) {
  if (first.hash == other.hash || !first.snapshot || !other.snapshot) return {};
  std::map<std::string_view, FileChange> files;
  for (const snapshot::File& file : first.snapshot->files) files[file.path].from = &file;
  for (const snapshot::File& file : other.snapshot->files) files[file.path].to = &file;
  std::vector<FileChange> changes;
  for (const auto& [path, change] : files) {
    const bool is_same =
        change.from != nullptr && change.to != nullptr && change.from->hash == change.to->hash;
    if (!is_same) changes.push_back(change);
  }
  return changes;
}

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

std::string RenderRows(const std::vector<RunRecord>& runs, const Rows& rows, bool shows_all) {
  cli::Table table;
  std::vector<std::string> heads = {""};
  for (const RunRecord& run : runs) {
    heads.push_back(fmt::format("{} ({})", run.job.summary.name, run.id()));
  }
  table.Row(heads);
  for (const Row& row : rows.rows()) {
    if (!shows_all && !row.Differs()) continue;
    std::vector<std::string> cells = {row.name};
    for (std::string value : row.values) {
      for (char& c : value) c = c == '\n' ? ' ' : c;
      cells.push_back(std::move(value));
    }
    table.Row(std::move(cells));
  }
  return table.Render();
}

text::Json RenderComparison(const std::vector<RunRecord>& runs, const Rows& rows,
                            const std::vector<CodeOfRun>& codes) {
  text::Array names;
  for (const RunRecord& run : runs) {
    names.push_back(text::Object{{"name", run.job.summary.name}, {"id", run.id()}});
  }
  text::Object differs;
  for (const Row& row : rows.rows()) {
    if (!row.Differs()) continue;
    text::Array values;
    for (const std::string& value : row.values) {
      values.push_back(value == kAbsent ? text::Json(nullptr) : text::Json(value));
    }
    differs[row.name] = std::move(values);
  }
  text::Array code;
  for (size_t i = 1; i < codes.size(); ++i) {
    text::Array files;
    for (const FileChange& change : ChangesOf(codes[0], codes[i]))
      files.emplace_back(change.Text());
    code.emplace_back(std::move(files));
  }
  return text::Object{
      {"runs", std::move(names)}, {"differences", std::move(differs)}, {"files", std::move(code)}};
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
  Rows rows(runs.size());
  std::vector<CodeOfRun> codes;
  for (size_t i = 0; i < runs.size(); ++i) AddOutcome(rows, i, runs[i]);
  for (size_t i = 0; i < runs.size(); ++i) {
    AddRun(rows, i, runs[i], FactsOf(runs[i], context.environment));
    codes.push_back(ReadCode(context, runs[i]));
  }
  if (IsForMachines(format)) {
    const text::Json json = RenderComparison(runs, rows, codes);
    TRY(call.out.Write(RenderDocument(json, format)));
    return 0;
  }
  TRY(call.out.Write(RenderRows(runs, rows, flags.shows_all)));
  for (size_t i = 1; i < runs.size(); ++i) {
    const std::vector<FileChange> changes = ChangesOf(codes[0], codes[i]);
    if (changes.empty()) continue;
    TRY(call.out.Write(
        fmt::format("\nFiles of {} that are not as in {}:\n", call.args[i], call.args[0])));
    for (const FileChange& change : changes) TRY(call.out.Write("  " + change.Text() + "\n"));
    if (flags.shows_diff) TRY(PrintDiff(context, changes));
  }
  return 0;
}

}  // namespace

void AddCompare(cli::Command& root, Context& context) {
  cli::Command& verb =
      root.Add("compare RUN RUN...", "Show what differs between runs")
          .Args(cli::MinArgs(2))
          .Long(
              "Show what differs between runs: how they ended, command, flags, resources, "
              "variables,\n"
              "code, Python and its packages. Of variables that came from your environment a\n"
              "fingerprint stands for the value: equal ones have equal fingerprints.")
          .Example(fmt::format("  {0} compare base base-2\n"
                               "  {0} compare base base-2 --diff    # with the lines of code",
                               context.program));
  auto flags = std::make_shared<CompareFlags>();
  verb.flags().Bool(&flags->shows_all, "all", false, "also what is the same");
  verb.flags().Bool(&flags->shows_diff, "diff", false, "the lines of code that differ, as diff -u");
  verb.flags()
      .String(&flags->output, "output", "", "json or yaml")
      .Short('o')
      .Choices({"json", "yaml"});
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
