#include "dashboard/board.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "api/stall.h"
#include "api/status_posts.h"
#include "arena/jobs/job_output.h"
#include "arena/jobs/progress.h"
#include "arena/listing/history.h"
#include "arena/logs/rank_lines.h"

namespace dashboard {
namespace {

using Type = cluster::WatchEvent::Type;

text::Json Milliseconds(const std::optional<base::Time>& time) {
  if (!time) return nullptr;
  return std::chrono::duration_cast<std::chrono::milliseconds>(time->time_since_epoch()).count();
}

bool IsUp(const api::InstanceSummary& instance) { return instance.status == "Running"; }

}  // namespace

const text::Projection& Board::JobParts() {
  static const text::Projection kParts(api::SummarizedJobParts(),
                                       {{"metadata", "annotations", api::kUnmetAnnotation},
                                        {"metadata", "annotations", api::kCommandAnnotation}});
  return kParts;
}

const text::Projection& Board::PodParts() { return api::SummarizedParts(); }

std::string Board::KeyOf(const text::Json& object) {
  return std::string(api::Namespace(object)) + "/" + std::string(api::Name(object));
}

std::string Board::JobKeyOf(const text::Json& pod) {
  std::string_view job = api::Label(pod, api::kJobNameLabel);
  if (job.empty()) job = api::Label(pod, "release");
  return std::string(api::Namespace(pod)) + "/" + std::string(job);
}

void Board::ReplaceJobs(std::vector<text::Json> jobs) {
  for (const auto& [key, job] : jobs_) dirty_.insert(key);
  jobs_.clear();
  for (text::Json& job : jobs) Apply(Type::kAdded, std::move(job));
}

void Board::ReplacePods(std::vector<text::Json> pods) {
  for (const auto& [key, of_job] : pods_) dirty_.insert(key);
  pods_.clear();
  for (text::Json& pod : pods) ApplyPod(Type::kAdded, std::move(pod));
}

void Board::Apply(Type type, text::Json job) {
  std::string key = KeyOf(job);
  dirty_.insert(key);
  if (type == Type::kDeleted) {
    jobs_.erase(key);
  } else {
    jobs_.insert_or_assign(std::move(key), std::move(job));
  }
}

void Board::ApplyPod(Type type, text::Json pod) {
  const std::string key = JobKeyOf(pod);
  dirty_.insert(key);
  const std::string name(api::Name(pod));
  if (type != Type::kDeleted) {
    pods_[key].insert_or_assign(name, std::move(pod));
    return;
  }
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  found->second.erase(name);
  if (found->second.empty()) pods_.erase(found);
}

arena::TrainingJob Board::Find(const text::Json& job, const std::string& key,
                               base::Time now) const {
  arena::TrainingJob found;
  found.job = job;
  if (const auto pods = pods_.find(key); pods != pods_.end()) {
    for (const auto& [name, pod] : pods->second) {
      if (api::IsPodOfJob(pod, job)) found.pods.push_back(pod);
    }
  }
  found.summary = api::Summarize(found.job, arena::Pointers(found.pods), now);
  arena::UseProgramsWords(context_, found.summary);
  return found;
}

Board::Changes Board::Take(base::Time now) {
  Changes changes;
  for (const std::string& key : std::exchange(dirty_, {})) {
    TakeAnnotated(key, changes.annotated);
    const auto job = jobs_.find(key);
    if (job == jobs_.end()) {
      if (rows_.erase(key) != 0) changes.gone.push_back(key);
      continue;
    }
    const arena::TrainingJob found = Find(job->second, key, now);
    const api::TrainingSummary& summary = found.summary;
    const arena::RankMap ranks = arena::RankMap::Of(found.job);
    const auto up = std::count_if(summary.instances.begin(), summary.instances.end(), IsUp);
    // As `list -o json`, without instances and without times that go on counting.
    text::Json row = arena::JobToJson(found, std::nullopt, {}, arena::Keys::kAll);
    text::Object& object = row.as_object();
    text::EraseKeys(object, {"instances", "duration", "tensorboard", "creationTimestamp"});
    object["key"] = key;
    object["id"] = summary.uid.substr(0, 8);
    object["created"] = Milliseconds(summary.created);
    object["started"] = Milliseconds(summary.start_time);
    object["ended"] = Milliseconds(summary.completion_time);
    object["ranks"] = ranks.size();
    object["ranksUp"] = up * ranks.processes;
    object["ending"] = api::IsDeleting(found.job);
    object["suspended"] =
        text::GetBool(found.job, {"spec", "runPolicy", "suspend"}).value_or(false);
    // The page counts its seconds.
    if (const auto stall = api::CurrentStall(found.job); stall && summary.status == "RUNNING") {
      object.erase("reason");
      object["stall"] = text::Object{
          {"kind", stall->kind}, {"since", Milliseconds(stall->since)}, {"text", stall->text}};
    }
    std::string json = text::ToJson(row);
    std::string& known = rows_[key];
    if (known == json) continue;
    known = json;
    changes.set.push_back(std::move(json));
  }
  return changes;
}

text::Json Board::InstancesOf(const std::string& key, base::Time now) const {
  const auto job = jobs_.find(key);
  if (job == jobs_.end()) return nullptr;
  const arena::TrainingJob found = Find(job->second, key, now);
  const arena::RankMap ranks = arena::RankMap::Of(found.job);
  text::Array instances;
  for (size_t i = 0; i < ranks.instances.size(); ++i) {
    const std::string& name = ranks.instances[i];
    const auto known =
        std::find_if(found.summary.instances.begin(), found.summary.instances.end(),
                     [&](const api::InstanceSummary& each) { return each.name == name; });
    const bool is_there = known != found.summary.instances.end();
    instances.push_back(
        text::Object{{"name", name},
                     {"firstRank", static_cast<int64_t>(i) * ranks.processes},
                     {"ranks", ranks.processes},
                     {"status", is_there ? known->status : ""},
                     {"node", is_there ? known->node : ""},
                     {"waits", is_there ? known->waits : ""},
                     {"restarts", is_there ? known->restarts : 0},
                     {"lastEnd", is_there ? known->last_end : ""},
                     {"created", is_there ? Milliseconds(known->created) : nullptr}});
  }
  return instances;
}

// Parses an annotation only when its text has changed.
void Board::TakeAnnotated(const std::string& key, std::vector<JobProgress>& changed) {
  const auto job = jobs_.find(key);
  Annotated now;
  if (job != jobs_.end()) {
    now.uid = api::Uid(job->second);
    now.text = api::Annotation(job->second, api::kProgressAnnotation);
  }
  const auto known = annotated_.find(key);
  if (known != annotated_.end() && known->second.uid != now.uid) {
    changed.push_back({known->second.uid, {}});
    annotated_.erase(known);
  }
  if (now.uid.empty()) return;
  std::string& text = annotated_[key].text;
  annotated_[key].uid = now.uid;
  if (text == now.text) return;
  text = std::move(now.text);
  changed.push_back({now.uid, arena::AnnotatedProgress(job->second)});
}

std::optional<arena::TrainingJob> Board::JobOf(const std::string& key, base::Time now) const {
  const auto job = jobs_.find(key);
  if (job == jobs_.end()) return std::nullopt;
  return Find(job->second, key, now);
}

}  // namespace dashboard
