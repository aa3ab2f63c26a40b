#include "reconcile/restart_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"
#include "reconcile/restart.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

// A count on record beyond this is nonsense.
constexpr int64_t kMostRestarts = 1'000'000;

using Record = std::map<std::string, int>;

std::string_view AnnotationOf(const api::PyTorchJob& job, std::string_view key) {
  const auto found = job.annotations.find(std::string(key));
  return found != job.annotations.end() ? std::string_view(found->second) : std::string_view();
}

int ReadCount(std::string_view text) {
  return static_cast<int>(std::clamp<int64_t>(base::ParseInt(text).value_or(0), 0, kMostRestarts));
}

// "worker-0=2,worker-3=1"
Record ReadRecord(const api::PyTorchJob& job) {
  Record record;
  for (const std::string& entry : base::Split(AnnotationOf(job, api::kRestartsAnnotation), ',')) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    record[entry.substr(0, equals)] = ReadCount(std::string_view(entry).substr(equals + 1));
  }
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

// The scopes that failed pods call to restart, and that have not been since.
std::set<std::string> FindNew(const Pass& pass, RestartScope scope, const Record& record) {
  std::set<std::string> keys;
  for (const Replicas* const replicas : pass.Types()) {
    if (replicas->spec == nullptr) continue;
    for (const Pod& pod : replicas->pods) {
      if (!replicas->IsWanted(pod) || pod.is_terminating) continue;
      if (!IsToBeReplaced(*replicas->spec, pod)) continue;
      const std::string key = KeyOf(scope, *replicas, pod.index);
      if (CountOf(pod) >= CountOf(record, key)) keys.insert(key);
    }
  }
  return keys;
}

}  // namespace

RestartScope ScopeOf(const api::PyTorchJob& job) {
  const std::string_view word = AnnotationOf(job, api::kRestartScopeAnnotation);
  if (word == "pod") return RestartScope::kPod;
  if (word == "replica") return RestartScope::kReplica;
  if (word == "job") return RestartScope::kJob;
  return RestartScope::kUnset;
}

bool HasSpentRestarts(const Pass& pass) {
  const RestartScope scope = ScopeOf(pass.job);
  const auto& limit = pass.job.run_policy.backoff_limit;
  if (scope == RestartScope::kUnset || !limit) return false;
  const Record record = ReadRecord(pass.job);
  const std::set<std::string> fresh = FindNew(pass, scope, record);
  if (fresh.empty()) return false;
  int64_t spent = static_cast<int64_t>(fresh.size());
  for (const auto& [key, count] : record) spent += count;
  return spent > *limit;
}

bool RecordRestarts(Pass& pass) {
  const RestartScope scope = ScopeOf(pass.job);
  if (scope == RestartScope::kUnset) return false;
  Record record = ReadRecord(pass.job);
  const std::set<std::string> fresh = FindNew(pass, scope, record);
  if (fresh.empty()) return false;
  for (const std::string& key : fresh) ++record[key];
  std::string text;
  for (const auto& [key, count] : record) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, count);
  }
  pass.plan.writes.push_back(AnnotateJob(pass.job, api::kRestartsAnnotation, text));
  return true;
}

bool IsOutdated(const Pass& pass, const Replicas& replicas, const Pod& pod) {
  return CountOf(pod) < RestartsOf(pass, replicas, pod.index);
}

bool MustWaitForRestart(const Pass& pass, const Replicas& replicas) {
  const RestartScope scope = ScopeOf(pass.job);
  if (scope != RestartScope::kReplica && scope != RestartScope::kJob) return false;
  const auto has_outdated = [&pass](const Replicas& type) {
    return std::any_of(type.pods.begin(), type.pods.end(),
                       [&](const Pod& pod) { return IsOutdated(pass, type, pod); });
  };
  if (scope == RestartScope::kReplica) return has_outdated(replicas);
  return has_outdated(pass.children.master) || has_outdated(pass.children.worker);
}

int RestartsOf(const Pass& pass, const Replicas& replicas, int index) {
  const RestartScope scope = ScopeOf(pass.job);
  if (scope == RestartScope::kUnset) return 0;
  return CountOf(ReadRecord(pass.job), KeyOf(scope, replicas, index));
}

}  // namespace reconcile
