#include "local/daemon/known_runs.h"

#include <fmt/format.h>

#include "api/job/command.h"
#include "api/object.h"
#include "api/resources.h"
#include "local/daemon/scheduling/past_jobs.h"
#include "text/projection.h"

namespace local::daemon {

base::Result<KnownRuns::Job> KnownRuns::ReadJob(std::string_view text, std::string version) {
  ++parsed_;
  TRY_ASSIGN(const text::Json object, text::ParseJson(text));
  Job job;
  job.version = std::move(version);
  job.key = fmt::format("{}/{}", api::Namespace(object), api::Name(object));
  job.command = api::CommandOf(object);
  job.run = ReadPastRun(object, std::nullopt);
  return job;
}

base::Result<KnownRuns::Jobs> KnownRuns::ListJobs(bool& is_changed) {
  Jobs jobs;
  cluster::ListOptions options;
  options.read_listed = [&](std::string_view text) -> base::Result<text::Json> {
    static const text::Projection kIdentity{{"metadata", "uid"}, {"metadata", "resourceVersion"}};
    TRY_ASSIGN(const text::Json identity, text::ParsePart(text, kIdentity));
    const std::string uid(api::Uid(identity));
    std::string version(api::ResourceVersion(identity));
    const auto known = jobs_.find(uid);
    if (known != jobs_.end() && known->second.version == version) {
      jobs[uid] = known->second;
      return text::Json(nullptr);
    }
    is_changed = true;
    TRY_ASSIGN(jobs[uid], ReadJob(text, std::move(version)));
    return text::Json(nullptr);
  };
  TRY(client_.List(api::kPyTorchJobs, options));
  is_changed |= jobs.size() != jobs_.size();
  return jobs;
}

base::Result<KnownRuns::Runs> KnownRuns::ListKept(bool& is_changed) {
  TRY_ASSIGN(const std::vector<std::string> uids, store_.NewestKept(kMostKeptRuns));
  Runs runs;
  for (const std::string& uid : uids) {
    if (const auto known = kept_.find(uid); known != kept_.end()) {
      runs.insert(*known);
      continue;
    }
    is_changed = true;
    store::KeptQuery query;
    query.uid = uid;
    TRY_ASSIGN(const std::vector<store::Kept> kept, store_.ListKept(query));
    if (kept.empty()) continue;  // forgotten meanwhile
    ++parsed_;
    const auto job = text::ParseJson(kept.front().json);
    const base::Time deleted{base::Duration(kept.front().deleted)};
    runs[uid] = job ? ReadPastRun(*job, deleted) : std::nullopt;
  }
  is_changed |= runs.size() != kept_.size();
  return runs;
}

void KnownRuns::Collect() {
  past_.clear();
  commands_.clear();
  for (const auto& [uid, job] : jobs_) {
    commands_[job.key] = job.command;
    if (job.run) past_.push_back(*job.run);
  }
  for (const auto& [uid, run] : kept_) {
    if (run) past_.push_back(*run);
  }
  SortByEnd(past_);
}

base::Status KnownRuns::Refresh() {
  bool is_changed = false;
  TRY_ASSIGN(Jobs jobs, ListJobs(is_changed));
  TRY_ASSIGN(Runs kept, ListKept(is_changed));
  jobs_ = std::move(jobs);
  kept_ = std::move(kept);
  if (is_changed) Collect();
  return {};
}

}  // namespace local::daemon
