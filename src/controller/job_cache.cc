#include "controller/job_cache.h"

#include <algorithm>
#include <set>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "controller/projection.h"

namespace controller {
namespace {

uint64_t VersionOf(const text::Json& object) {
  const auto version = base::ParseInt(text::GetString(object, {"metadata", "resourceVersion"}));
  return version ? static_cast<uint64_t>(*version) : 0;
}

std::string NameOf(const text::Json& object) {
  return std::string(text::GetString(object, {"metadata", "name"}));
}

std::string Key(std::string_view namespace_name, std::string_view name) {
  return std::string(namespace_name) + "/" + std::string(name);
}

std::string UidOfJob(const text::Json& object) {
  return std::string(text::GetString(object, {"metadata", "uid"}));
}

}  // namespace

std::string JobKey(const text::Json& job) {
  return Key(text::GetString(job, {"metadata", "namespace"}), NameOf(job));
}

std::string OwnerKey(ChildKind kind, const text::Json& child) {
  std::string_view job;
  if (kind != ChildKind::kPodGroup) {
    job = text::GetString(child, {"metadata", "labels", api::kJobNameLabel});
  } else if (const text::Json* const owner = api::ControllerReference(child)) {
    job = text::GetString(*owner, {"name"});
  }
  if (job.empty()) return "";
  return Key(text::GetString(child, {"metadata", "namespace"}), job);
}

std::string JobCache::PutJob(text::Json job) {
  const std::lock_guard lock(mutex_);
  return PutJobLocked(std::move(job));
}

std::string JobCache::PutJobLocked(text::Json job) {
  std::string key = JobKey(job);
  Entry& entry = entries_[key];
  if (!entry.settled_uid.empty()) {
    if (UidOfJob(job) == entry.settled_uid) return "";
    entry.settled_uid.clear();
  }
  if (entry.has_job() && VersionOf(job) <= entry.job.version) return "";
  entry.job = {TextOfJob(job), UidOfJob(job), VersionOf(job)};
  entry.job.text.shrink_to_fit();  // it grew by doubling
  return key;
}

std::string JobCache::RemoveJob(const text::Json& job) {
  const std::lock_guard lock(mutex_);
  std::string key = JobKey(job);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return "";
  const std::string uid = UidOfJob(job);
  if (entry->second.settled_uid == uid) entry->second.settled_uid.clear();
  if (entry->second.has_job() && entry->second.job.uid == uid) entry->second.job = {};
  DropIfEmptyLocked(key);
  return key;
}

std::string JobCache::PutChild(ChildKind kind, text::Json child) {
  const std::lock_guard lock(mutex_);
  return PutChildLocked(kind, std::move(child));
}

std::string JobCache::PutChildLocked(ChildKind kind, text::Json child) {
  std::string key = OwnerKey(kind, child);
  if (key.empty()) return "";
  Entry& entry = entries_[key];
  if (!entry.settled_uid.empty()) return "";
  Children& children = entry.Of(kind);
  const std::string name = NameOf(child);
  const auto deleted = children.deleted_at.find(name);
  if (deleted != children.deleted_at.end() && VersionOf(child) <= deleted->second) return "";
  ObjectPtr& known = children.by_name[name];
  // Seen already, or overtaken.
  if (known != nullptr && VersionOf(child) <= VersionOf(*known)) return "";
  if (kind == ChildKind::kPod && known != nullptr && api::Phase(child) == "Failed" &&
      api::Phase(*known) != "Failed") {
    ++failed_pods_;
  }
  if (kind != ChildKind::kPodGroup) ProjectFiled(child);
  known = std::make_shared<const text::Json>(std::move(child));
  return key;
}

std::string JobCache::RemoveChild(ChildKind kind, const text::Json& child) {
  const std::lock_guard lock(mutex_);
  std::string key = OwnerKey(kind, child);
  const auto entry = key.empty() ? entries_.end() : entries_.find(key);
  if (entry == entries_.end() || !entry->second.settled_uid.empty()) return "";
  Children& children = entry->second.Of(kind);
  const std::string name = NameOf(child);
  children.deleted_at[name] = std::max(children.deleted_at[name], VersionOf(child));
  const auto known = children.by_name.find(name);
  if (known != children.by_name.end() && VersionOf(*known->second) <= VersionOf(child)) {
    children.by_name.erase(known);
  }
  DropIfEmptyLocked(key);
  return key;
}

void JobCache::DropIfEmptyLocked(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  const bool has_children =
      std::any_of(entry.children.begin(), entry.children.end(),
                  [](const Children& children) { return !children.by_name.empty(); });
  if (!entry.has_job() && entry.settled_uid.empty() && !has_children) entries_.erase(found);
}

std::vector<std::string> JobCache::ReplaceJobs(std::vector<text::Json> jobs) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> listed;
  std::vector<std::string> keys;
  for (text::Json& job : jobs) {
    listed.insert(JobKey(job));
    if (std::string key = PutJobLocked(std::move(job)); !key.empty())
      keys.push_back(std::move(key));
  }
  std::vector<std::string> gone;
  for (auto& [key, entry] : entries_) {
    if (listed.contains(key)) continue;
    entry.job = {};
    entry.settled_uid.clear();
    gone.push_back(key);
  }
  for (const std::string& key : gone) DropIfEmptyLocked(key);
  return keys;
}

std::vector<std::string> JobCache::ReplaceChildren(ChildKind kind,
                                                   std::vector<text::Json> children) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::set<std::string>> listed;
  std::set<std::string> keys;
  for (text::Json& child : children) {
    listed[OwnerKey(kind, child)].insert(NameOf(child));
    if (std::string key = PutChildLocked(kind, std::move(child)); !key.empty()) keys.insert(key);
  }
  std::vector<std::string> touched;
  for (auto& [key, entry] : entries_) {
    const auto names = listed.find(key);
    const size_t erased = std::erase_if(entry.Of(kind).by_name, [&](const auto& known) {
      return names == listed.end() || !names->second.contains(known.first);
    });
    if (erased != 0) touched.push_back(key);
  }
  for (const std::string& key : touched) {
    keys.insert(key);
    DropIfEmptyLocked(key);
  }
  return {keys.begin(), keys.end()};
}

std::optional<JobCache::Snapshot> JobCache::Get(const std::string& key) const {
  Snapshot snapshot;
  std::string job;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.has_job()) return std::nullopt;
    const Entry& entry = found->second;
    job = entry.job.text;
    CopyChildren(entry, snapshot);
  }
  auto read = text::ParseJson(job);
  if (!read) return std::nullopt;
  snapshot.job = std::make_shared<const text::Json>(std::move(*read));
  return snapshot;
}

void JobCache::CopyChildren(const Entry& entry, Snapshot& snapshot) {
  const auto copy = [&entry](ChildKind kind, std::vector<ObjectPtr>& to) {
    const auto& by_name = entry.Of(kind).by_name;
    to.reserve(by_name.size());
    for (const auto& [name, child] : by_name) to.push_back(child);
  };
  copy(ChildKind::kPod, snapshot.pods);
  copy(ChildKind::kService, snapshot.services);
  copy(ChildKind::kPodGroup, snapshot.pod_groups);
}

void JobCache::Settle(const std::string& key, const std::string& uid) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.has_job() || found->second.job.uid != uid) return;
  found->second = Entry{};
  found->second.settled_uid = uid;
}

std::vector<std::string> JobCache::KeysOnNode(std::string_view node) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) {
    const auto& pods = entry.Of(ChildKind::kPod).by_name;
    if (std::any_of(pods.begin(), pods.end(),
                    [&](const auto& pod) { return api::NodeName(*pod.second) == node; })) {
      keys.push_back(key);
    }
  }
  return keys;
}

int64_t JobCache::FailedPods() const {
  const std::lock_guard lock(mutex_);
  return failed_pods_;
}

size_t JobCache::ActiveJobs() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [key, entry] : entries_) count += entry.has_job() ? 1 : 0;
  return count;
}

}  // namespace controller
