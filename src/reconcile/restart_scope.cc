#include "reconcile/restart_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"
#include "reconcile/conditions.h"
#include "reconcile/restart.h"

namespace reconcile {
namespace {

// A recorded count beyond this is corrupt.
constexpr int64_t kMostRestarts = 1'000'000;
constexpr std::string_view kCountedReason = "CountedByScope";

using Record = std::map<std::string, int>;

std::string_view AnnotationOf(const api::PyTorchJob& job, std::string_view key) {
  const auto found = job.annotations.find(std::string(key));
  return found != job.annotations.end() ? std::string_view(found->second) : std::string_view();
}

int ReadCount(std::string_view text) {
  return static_cast<int>(std::clamp<int64_t>(base::ParseInt(text).value_or(0), 0, kMostRestarts));
}

// "worker-0=2,worker-3=1"
void AddTo(Record& record, std::string_view text) {
  for (const std::string& entry : base::Split(text, ',')) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    int& count = record[entry.substr(0, equals)];
    count = std::max(count, ReadCount(std::string_view(entry).substr(equals + 1)));
  }
}

Record ReadRecord(const api::PyTorchJob& job, std::string_view condition = kRestarts,
                  std::string_view annotation = api::kRestartsAnnotation) {
  Record record;
  // The place where an older operator kept it.
  AddTo(record, AnnotationOf(job, annotation));
  if (const api::Condition* const kept = job.status.Find(condition)) AddTo(record, kept->message);
  return record;
}

std::string KeyOf(RestartScope scope, const Replicas& replicas, int index) {
  switch (scope) {
    case RestartScope::kPod:
      return fmt::format("{}-{}", replicas.label, index);
    case RestartScope::kReplica:
      return std::string(replicas.label);
    case RestartScope::kJob:
    case RestartScope::kUnset:
      break;
  }
  return "job";
}

int CountOf(const Record& record, const std::string& key) {
  const auto found = record.find(key);
  return found != record.end() ? found->second : 0;
}

int CountOf(const Pod& pod) {
  return ReadCount(api::Annotation(*pod.object, api::kRestartsAnnotation));
}

std::string ToText(const Record& record) {
  std::string text;
  for (const auto& [key, count] : record) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, count);
  }
  return text;
}

void KeepRecord(const Record& record, std::string_view type, JobState& state) {
  api::Condition kept;
  kept.type = type;
  kept.status = "True";
  kept.reason = kCountedReason;
  kept.message = ToText(record);
  kept.last_update_time = state.stamp;
  kept.last_transition_time = state.stamp;
  if (const api::Condition* const old = state.status.Find(type)) {
    kept.last_transition_time = old->last_transition_time;
  }
  DropCondition(state.status, type);
  state.status.conditions.insert(state.status.conditions.begin(), std::move(kept));
}

int64_t SumOf(const Record& record) {
  int64_t sum = 0;
  for (const auto& [key, count] : record) sum += count;
  return sum;
}

// The scopes that failed and disrupted pods require to restart, and that have not been restarted
// since, each with whether a disruption is the reason.
std::map<std::string, bool> FindNew(const JobState& state, RestartScope scope,
                                    const Record& record) {
  std::map<std::string, bool> keys;
  for (const Replicas* const replicas : state.Types()) {
    if (replicas->spec == nullptr) continue;
    for (const Pod& pod : replicas->pods) {
      if (!replicas->IsWanted(pod) || !CallsForRestart(*replicas->spec, pod)) continue;
      // A left-over pod goes by itself: only others may have to be deleted with it.
      if (pod.is_left_over) continue;
      const std::string key = KeyOf(scope, *replicas, pod.index);
      if (CountOf(pod) >= CountOf(record, key)) keys[key] |= pod.is_disrupted;
    }
  }
  return keys;
}

bool CountsDisruptions(const api::PyTorchJob& job) {
  return AnnotationOf(job, api::kCountDisruptionsAnnotation) == "true";
}

}  // namespace

RestartScope ScopeOf(const api::PyTorchJob& job) {
  const std::string_view word = AnnotationOf(job, api::kRestartScopeAnnotation);
  if (word == "pod") return RestartScope::kPod;
  if (word == "replica") return RestartScope::kReplica;
  if (word == "job") return RestartScope::kJob;
  return RestartScope::kUnset;
}

bool CountsTowardsLimit(const api::PyTorchJob& job, const Pod& pod) {
  return !pod.is_disrupted || CountsDisruptions(job);
}

bool HasSpentRestarts(const JobState& state) {
  const RestartScope scope = ScopeOf(state.job);
  const auto& limit = state.job.run_policy.backoff_limit;
  if (scope == RestartScope::kUnset || !limit) return false;
  const Record record = ReadRecord(state.job);
  const std::map<std::string, bool> fresh = FindNew(state, scope, record);
  if (fresh.empty()) return false;
  const bool counts_all = CountsDisruptions(state.job);
  int64_t spent = SumOf(record);
  if (!counts_all) spent -= SumOf(ReadRecord(state.job, kDisruptions, api::kDisruptionsAnnotation));
  const auto counted = std::count_if(
      fresh.begin(), fresh.end(), [&](const auto& entry) { return counts_all || !entry.second; });
  return counted > 0 && spent + counted > *limit;
}

bool RecordRestarts(JobState& state) {
  const RestartScope scope = ScopeOf(state.job);
  if (scope == RestartScope::kUnset) return false;
  Record record = ReadRecord(state.job);
  const std::map<std::string, bool> fresh = FindNew(state, scope, record);
  if (fresh.empty()) return false;
  Record disruptions = ReadRecord(state.job, kDisruptions, api::kDisruptionsAnnotation);
  for (const auto& [key, is_disruption] : fresh) {
    ++record[key];
    if (is_disruption) ++disruptions[key];
  }
  state.status = state.job.status;
  state.plan.events.clear();
  state.plan.counters.clear();
  if (!disruptions.empty()) KeepRecord(disruptions, kDisruptions, state);
  KeepRecord(record, kRestarts, state);
  return true;
}

bool CallsForRestart(const api::ReplicaSpec& spec, const Pod& pod) {
  if (!pod.is_terminating) return IsToBeReplaced(spec, pod);
  return pod.is_disrupted && IsRestartedAtAll(spec);
}

bool IsOutdated(const api::PyTorchJob& job, const Replicas& replicas, const Pod& pod) {
  if (ScopeOf(job) == RestartScope::kUnset) return false;
  return CountOf(pod) < RestartsOf(job, replicas, pod.index);
}

bool MustWaitForRestart(const JobState& state, const Replicas& replicas) {
  const RestartScope scope = ScopeOf(state.job);
  if (scope != RestartScope::kReplica && scope != RestartScope::kJob) return false;
  const auto has_outdated = [&state](const Replicas& type) {
    return std::any_of(type.pods.begin(), type.pods.end(),
                       [&](const Pod& pod) { return IsOutdated(state.job, type, pod); });
  };
  if (scope == RestartScope::kReplica) return has_outdated(replicas);
  return has_outdated(state.children.master) || has_outdated(state.children.worker);
}

int RestartsOf(const api::PyTorchJob& job, const Replicas& replicas, int index) {
  const RestartScope scope = ScopeOf(job);
  if (scope == RestartScope::kUnset) return 0;
  return CountOf(ReadRecord(job), KeyOf(scope, replicas, index));
}

}  // namespace reconcile
