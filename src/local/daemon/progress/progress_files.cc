#include "local/daemon/progress/progress_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "local/daemon/progress/job_file.h"

namespace local::daemon {
namespace {

constexpr size_t kMostFileBytes = 64 << 20;
constexpr size_t kCompactAfter = 1 << 20;  // bytes appended

text::Array SourcesToJson(const runs::History& history) {
  text::Array sources;
  for (const runs::SourceProgress& source : history.Latest()) {
    sources.push_back(runs::ProgressToJson(source));
  }
  return sources;
}

// {"source", "points": [[time, step, epoch]]}: each mark that is kept.
text::Json StepsToJson(const runs::History& history) {
  std::string source;
  text::Array points;
  for (const runs::StepMark& mark : history.Steps(source)) {
    points.push_back(text::Array{mark.at, mark.step, mark.epoch});
  }
  return text::Object{{"source", source}, {"points", std::move(points)}};
}

}  // namespace

ProgressFiles::ProgressFiles(const std::string& state_directory)
    : folder_(state_directory + "/progress") {
  ::mkdir(folder_.c_str(), 0700);
}

ProgressFiles::~ProgressFiles() { Write(); }

std::string ProgressFiles::PathOf(const std::string& job_uid) const {
  return folder_ + "/" + job_uid;
}

// Under the mutex.
runs::History& ProgressFiles::Opened(const std::string& job_uid) {
  const auto known = open_.find(job_uid);
  if (known != open_.end()) return known->second;
  const auto text = base::ReadFile(PathOf(job_uid), kMostFileBytes);
  return open_.emplace(job_uid, runs::History::Read(text ? *text : "")).first->second;
}

void ProgressFiles::Note(const std::string& job_uid, const std::string& source, runs::Millis at,
                         const runs::LineProgress& progress, std::optional<int64_t> percent) {
  if (!IsUid(job_uid)) return;
  const std::lock_guard lock(mutex_);
  Opened(job_uid).Note(source, at, progress, percent);
  changed_.insert(job_uid);
}

void ProgressFiles::NoteCheckpoint(const std::string& job_uid, const runs::CheckpointSpan& span) {
  if (!IsUid(job_uid)) return;
  const std::lock_guard lock(mutex_);
  Opened(job_uid).NoteCheckpoint(span);
}

void ProgressFiles::NoteWait(const std::string& job_uid, const runs::WaitSpan& span) {
  if (!IsUid(job_uid)) return;
  const std::lock_guard lock(mutex_);
  const bool was_open = open_.contains(job_uid);
  runs::History& history = Opened(job_uid);
  history.NoteWait(span);
  if (was_open) return;
  WriteOne(job_uid, history);
  open_.erase(job_uid);
}

std::optional<runs::Millis> ProgressFiles::LastOf(const std::string& job_uid,
                                                  const std::string& source) {
  if (!IsUid(job_uid)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (const runs::SourceProgress& latest : Opened(job_uid).Latest()) {
    if (latest.source == source) return latest.at;
  }
  return std::nullopt;
}

void ProgressFiles::WriteOne(const std::string& job_uid, runs::History& history) {
  const std::string text = history.TakeNew();
  if (text.empty()) return;
  const std::string path = PathOf(job_uid);
  const base::Status written =
      history.appended() < kCompactAfter
          ? AppendToFile(path, text)
          : base::WriteFileAtomic(path, history.Compacted(), 0600, base::Durability::kNone);
  if (!written) base::LogWarn("progress of job {}: {}", job_uid, written.error().message);
}

void ProgressFiles::Write() {
  const std::lock_guard lock(mutex_);
  for (auto& [uid, history] : open_) WriteOne(uid, history);
}

void ProgressFiles::Close(const std::string& job_uid) {
  const std::lock_guard lock(mutex_);
  const auto known = open_.find(job_uid);
  if (known == open_.end()) return;
  WriteOne(job_uid, known->second);
  open_.erase(known);
  changed_.insert(job_uid);
}

void ProgressFiles::Forget(const std::string& job_uid) {
  if (!IsUid(job_uid)) return;
  const std::lock_guard lock(mutex_);
  open_.erase(job_uid);
  ::unlink(PathOf(job_uid).c_str());
}

void ProgressFiles::ForgetUnless(const std::function<bool(const std::string& job_uid)>& is_known) {
  for (const std::string& uid : base::EntriesOf(folder_)) {
    if (IsUid(uid) && !is_known(uid)) Forget(uid);
  }
}

text::Json ProgressFiles::Of(const std::string& job_uid, size_t points, bool with_times) {
  text::Object json{{"uid", job_uid}, {"sources", text::Array()}, {"series", text::Array()}};
  if (!IsUid(job_uid)) return json;
  const std::lock_guard lock(mutex_);
  const auto known = open_.find(job_uid);
  runs::History read;
  const runs::History* history = &read;
  if (known != open_.end()) {
    history = &known->second;
  } else if (const auto text = base::ReadFile(PathOf(job_uid), kMostFileBytes)) {
    read = runs::History::Read(*text);
  }
  json["sources"] = SourcesToJson(*history);
  if (points == 0) return json;
  json["series"] = history->SeriesToJson(points);
  if (!with_times) return json;
  json["steps"] = StepsToJson(*history);
  text::Array checkpoints;
  for (const runs::CheckpointSpan& span : history->checkpoints()) {
    checkpoints.push_back(text::Array{span.begin, span.end, span.is_load ? "load" : "save"});
  }
  json["checkpoints"] = std::move(checkpoints);
  text::Array waits;
  for (const runs::WaitSpan& span : history->waits()) {
    waits.push_back(text::Array{span.begin, span.end, WordOf(span.bucket), WordOf(span.source)});
  }
  json["waits"] = std::move(waits);
  return json;
}

std::map<std::string, text::Array> ProgressFiles::TakeChanged() {
  std::map<std::string, text::Array> changed;
  const std::lock_guard lock(mutex_);
  for (const std::string& uid : std::exchange(changed_, {})) {
    const auto known = open_.find(uid);
    changed[uid] = known == open_.end() ? text::Array() : SourcesToJson(known->second);
  }
  return changed;
}

text::Json ProgressFiles::OfRunning() {
  text::Array items;
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, history] : open_) {
    items.push_back(text::Object{{"uid", uid}, {"sources", SourcesToJson(history)}});
  }
  return text::Object{{"items", std::move(items)}};
}

}  // namespace local::daemon
