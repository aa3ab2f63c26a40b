#include "arena/listing/seen_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "api/names.h"
#include "api/object.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

constexpr const char* kFolder = "/seen";
constexpr const char* kSuffix = ".json";
constexpr size_t kClusterDigits = 12;
constexpr size_t kMaxSeenFile = 8 << 20;
// Per cluster; beyond it, the ones that were seen longest ago are removed.
constexpr size_t kMostRuns = 2000;

std::optional<SeenRun> ReadSeen(const std::string& path) {
  const auto content = base::ReadFile(path, kMaxSeenFile);
  auto json = content ? text::ParseJson(*content) : base::Fail(content.error());
  if (!json || !json->is_object()) return std::nullopt;
  text::Object& object = json->as_object();
  SeenRun run;
  run.job = std::move(object["job"]);
  run.note = std::move(object["note"]);
  if (text::Array* pods = object["pods"].if_array()) {
    for (text::Json& pod : *pods) run.pods.push_back(std::move(pod));
  }
  const auto seen = base::ParseRfc3339(text::GetString(*json, {"seen"}));
  if (!run.job.is_object() || !seen) return std::nullopt;
  run.seen = *seen;
  return run;
}

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : base::EntriesOf(folder)) {
    if (name.ends_with(kSuffix)) paths.push_back(folder + "/" + name);
  }
  return paths;
}

std::string GridPathOf(const std::string& folder, std::string_view uid) {
  return fmt::format("{}/{}.jsonl", folder, uid);
}

}  // namespace

SeenRuns::SeenRuns(const Context& context) : clock_(context.clock) {
  if (context.cluster_is_this_machine || context.program == "arena") return;
  folder_ = fmt::format("{}{}/{}", context.environment.StateDir(), kFolder,
                        base::Md5Hex(context.cluster_server).substr(0, kClusterDigits));
}

std::string SeenRuns::PathOf(std::string_view uid) const {
  return fmt::format("{}/{}{}", folder_, uid, kSuffix);
}

void SeenRuns::Write(const SeenRun& run) const {
  text::Array pods;
  for (const text::Json& pod : run.pods) pods.push_back(pod);
  const text::Json json = text::Object{{"job", run.job},
                                       {"pods", std::move(pods)},
                                       {"note", run.note},
                                       {"seen", base::FormatRfc3339(run.seen)}};
  const std::string path = PathOf(api::Uid(run.job));
  base::Status written = base::MakeDirs(folder_);
  if (written) {
    written = base::WriteFileAtomic(path, text::ToJson(json) + "\n", 0600, base::Durability::kSync);
  }
  if (!written) base::LogDebug("the seen runs could not be kept: {}", written.error().message);
}

void SeenRuns::Remember(const text::Json& job, const text::Json& note) const {
  const std::string_view uid = api::Uid(job);
  if (folder_.empty() || uid.empty() || uid.find('/') != std::string_view::npos) return;
  Write({job, {}, note, clock_.Now()});
  if (FilesOf(folder_).size() <= kMostRuns) return;
  std::vector<SeenRun> runs = List("");
  std::sort(runs.begin(), runs.end(),
            [](const SeenRun& a, const SeenRun& b) { return a.seen > b.seen; });
  for (size_t i = kMostRuns; i < runs.size(); ++i) Forget(api::Uid(runs[i].job));
}

void SeenRuns::Renew(const text::Json& job, const std::vector<text::Json>& pods) const {
  auto run = Find(api::Uid(job));
  if (!run) return;
  // Every change of a job has a version of its own; its pods change with it or soon before.
  const auto version = [](const text::Json& of) {
    return text::GetString(of, {"metadata", "resourceVersion"});
  };
  if (version(run->job) == version(job) && (pods.empty() || !run->pods.empty())) return;
  run->job = job;
  if (!pods.empty()) run->pods = pods;
  run->seen = clock_.Now();
  Write(*run);
}

void SeenRuns::RenewStatus(const text::Json& listed) const {
  auto run = Find(api::Uid(listed));
  if (!run) return;
  text::Json job = run->job;
  for (const text::Path& path : {text::Path{"status"}, {"spec", "runPolicy", "suspend"}}) {
    if (const text::Json* value = text::Find(listed, path)) text::Set(job, path, *value);
  }
  for (const auto& pair : text::Members(listed, {"metadata", "annotations"})) {
    text::Set(job, {"metadata", "annotations", pair.key()}, pair.value());
  }
  if (job == run->job) return;
  run->job = std::move(job);
  run->seen = clock_.Now();
  Write(*run);
}

std::vector<SeenRun> SeenRuns::List(const std::string& namespace_name) const {
  std::vector<SeenRun> runs;
  if (folder_.empty()) return runs;
  for (const std::string& path : FilesOf(folder_)) {
    auto run = ReadSeen(path);
    if (!run) continue;
    if (!namespace_name.empty() && api::Namespace(run->job) != namespace_name) continue;
    runs.push_back(std::move(*run));
  }
  std::sort(runs.begin(), runs.end(), [](const SeenRun& a, const SeenRun& b) {
    return api::CreationTime(a.job) > api::CreationTime(b.job);
  });
  return runs;
}

std::optional<SeenRun> SeenRuns::Find(std::string_view uid) const {
  if (folder_.empty() || uid.empty() || uid.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  return ReadSeen(PathOf(uid));
}

void SeenRuns::Forget(std::string_view uid) const {
  if (folder_.empty()) return;
  ::unlink(PathOf(uid).c_str());
  ::unlink(GridPathOf(folder_, uid).c_str());
}

base::Result<std::string> SeenRuns::KeepGrid(std::string_view uid, const std::string& grid) const {
  const std::string path = GridPathOf(folder_, uid);
  TRY(base::MakeDirs(folder_));
  TRY(base::WriteFileAtomic(path, grid, 0600, base::Durability::kNone));
  return path;
}

std::vector<std::string> SeenRuns::Snapshots(const base::Environment& environment) {
  std::vector<std::string> hashes;
  const std::string above = environment.StateDir() + kFolder;
  for (const std::string& cluster : base::EntriesOf(above)) {
    for (const std::string& path : FilesOf(above + "/" + cluster)) {
      const auto run = ReadSeen(path);
      if (!run) continue;
      hashes.emplace_back(api::Annotation(run->job, api::kSnapshotAnnotation));
    }
  }
  return hashes;
}

}  // namespace arena
