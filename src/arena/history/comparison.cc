#include "arena/history/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/names.h"
#include "api/object.h"
#include "arena/folder/run_folder.h"
#include "arena/folder/run_note.h"
#include "arena/history/facts.h"
#include "arena/history/trials.h"
#include "arena/jobs/progress.h"

namespace arena {

void Comparison::Set(size_t run, const std::string& name, std::string value) {
  auto found = std::find_if(values_.begin(), values_.end(),
                            [&](const ComparedValue& row) { return row.name == name; });
  if (found == values_.end()) {
    values_.push_back({name, std::vector<std::string>(runs_.size(), std::string(kAbsent))});
    found = values_.end() - 1;
  }
  if (!value.empty()) found->values[run] = std::move(value);
}

void Comparison::AddOutcome(size_t at, const RunRecord& run) {
  const api::TrainingSummary& summary = run.job.summary;
  Set(at, "status", summary.status);
  Set(at, "reason", summary.reason);
  Set(at, "created", LocalTime(summary.created));
  Set(at, "duration", base::ShortDuration(summary.duration));
}

// Only the first source counts, as in `get`.
void Comparison::AddProgress(size_t at, const std::vector<runs::SourceProgress>& sources) {
  if (sources.empty()) return;
  const runs::LineProgress& last = sources.front().progress;
  if (last.step) Set(at, "last step", fmt::to_string(*last.step));
  for (const auto& [name, value] : last.scalars) {
    Set(at, "last " + name, fmt::format("{:.6g}", value));
  }
}

void Comparison::AddRun(size_t at, const RunRecord& run, const base::Environment& environment) {
  const RunFacts facts = FactsOf(run, environment);
  for (const auto& [name, value] : facts.spec) Set(at, name, value);
  Set(at, "commit", std::string(api::Annotation(run.job.job, api::kCommitAnnotation).substr(0, 7)));
  Set(at, "code",
      std::string(api::Annotation(run.job.job, api::kSnapshotAnnotation).substr(0, 12)));
  Set(at, "python", facts.python.interpreter);
  for (const std::string& package : facts.python.packages) {
    const size_t blank = package.find(' ');
    Set(at, "package " + package.substr(0, blank),
        blank == std::string::npos ? package : package.substr(blank + 1));
  }
  // A digest shows that values differ without showing the values.
  for (const auto& [name, digest] : facts.digests) {
    Set(at, "variable " + name, "#" + digest.substr(0, 6));
  }
}

Comparison::Code Comparison::ReadCode(const RunRecord& run, const base::Environment& environment) {
  Code code{std::string(api::Annotation(run.job.job, api::kSnapshotAnnotation)), std::nullopt};
  if (code.hash.empty()) return code;
  if (auto read = RunFolder::Snapshots(environment).Read(code.hash)) {
    code.snapshot = std::move(*read);
  }
  return code;
}

Comparison Comparison::Of(cluster::Client& client, const Context& context,
                          const std::vector<RunRecord>& runs) {
  Comparison comparison(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    comparison.AddOutcome(i, runs[i]);
    const text::Json& job = runs[i].job.job;
    if (HasTrials(runs[i], RunFolderOf(job, context.environment))) continue;
    comparison.AddProgress(i, ProgressOf(client, context, job));
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    comparison.AddRun(i, runs[i], context.environment);
    comparison.codes_.push_back(ReadCode(runs[i], context.environment));
  }
  return comparison;
}

std::vector<FileChange> Comparison::ChangesTo(size_t index) const {
  const Code& first = codes_[0];
  const Code& other = codes_[index];
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

text::Json Comparison::ToJson() const {
  text::Array names;
  for (const RunRecord& run : runs_) {
    names.push_back(text::Object{{"name", run.job.summary.name}, {"id", run.id()}});
  }
  text::Object differs;
  for (const ComparedValue& row : values_) {
    if (!row.Differs()) continue;
    text::Array values;
    for (const std::string& value : row.values) {
      values.push_back(value == kAbsent ? text::Json(nullptr) : text::Json(value));
    }
    differs[row.name] = std::move(values);
  }
  text::Array code;
  for (size_t i = 1; i < codes_.size(); ++i) {
    text::Array files;
    for (const FileChange& change : ChangesTo(i)) files.emplace_back(change.Mark() + change.path());
    code.emplace_back(std::move(files));
  }
  return text::Object{
      {"runs", std::move(names)}, {"differences", std::move(differs)}, {"files", std::move(code)}};
}

}  // namespace arena
