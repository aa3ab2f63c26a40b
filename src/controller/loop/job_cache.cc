#include "controller/loop/job_cache.h"

#include <algorithm>
#include <unordered_set>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "controller/loop/object_packing.h"
#include "controller/loop/projection.h"

namespace controller {
namespace {

// Children beyond this number are kept parsed: reconciling ten thousand would spend milliseconds on
// parsing them.
constexpr size_t kFewChildren = 128;

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

std::string KeyOfChild(std::string_view owner, std::string_view name) {
  return std::string(owner) + "/" + std::string(name);
}

std::unordered_set<std::string_view> Texts(const std::vector<text::Json>& strings) {
  std::unordered_set<std::string_view> texts;
  texts.reserve(strings.size());
  for (const text::Json& string : strings) texts.insert(text::GetString(string, {}));
  return texts;
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

std::string ChildKey(ChildKind kind, const text::Json& child) {
  const std::string owner = OwnerKey(kind, child);
  return owner.empty() ? "" : KeyOfChild(owner, NameOf(child));
}

ObjectPtr JobCache::Child::Value() const {
  if (object != nullptr) return object;
  auto read = text::ParseJson(ObjectPacking().Unpack(packed));
  return std::make_shared<const text::Json>(read ? std::move(*read) : text::Json());
}

void JobCache::Entry::ForgetJob() {
  uid.clear();
  std::exchange(job, {});  // frees its capacity too
  has_forgotten = has_lost_children = false;
}

std::string JobCache::PutJob(text::Json job) {
  const std::lock_guard lock(mutex_);
  return PutLocked(std::move(job));
}

std::string JobCache::PutAnswer(text::Json job) {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(JobKey(job));
  if (known == entries_.end() || known->second.uid != UidOfJob(job)) return "";
  return PutLocked(std::move(job));
}

std::string JobCache::PutLocked(text::Json job) {
  std::string key = JobKey(job);
  Entry& entry = entries_[key];
  const uint64_t version = VersionOf(job);
  std::string uid = UidOfJob(job);
  const bool is_known = entry.has_job() || (entry.is_settled() && uid == entry.uid);
  if (is_known && version <= entry.job_version) return "";
  if (!entry.uid.empty() && entry.uid != uid) replaced_.push_back(entry.uid);
  entry.job = PackedTextOfJob(job);
  entry.job_version = version;
  entry.uid = std::move(uid);
  return key;
}

std::string JobCache::RemoveJob(const text::Json& job) {
  const std::lock_guard lock(mutex_);
  std::string key = JobKey(job);
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return "";
  const std::string uid = UidOfJob(job);
  if (entry->second.uid == uid) entry->second.ForgetJob();
  DropIfEmptyLocked(key);
  return key;
}

std::string JobCache::PutChild(ChildKind kind, text::Json child) {
  const std::lock_guard lock(mutex_);
  std::string key = OwnerKey(kind, child);
  if (key.empty()) return "";
  Entry& entry = entries_[key];
  if (entry.is_settled()) return "";
  const ChildName name(kind, NameOf(child));
  if (entry.deleted_at != nullptr) {
    const auto deleted = entry.deleted_at->find(name);
    if (deleted != entry.deleted_at->end() && VersionOf(child) <= deleted->second) return "";
  }
  const auto [place, is_new] = entry.children.try_emplace(name);
  Child& known = place->second;
  // Known already, or superseded.
  if (!is_new && VersionOf(child) <= known.version) return "";
  const bool has_failed = kind == ChildKind::kPod && api::Phase(child) == "Failed";
  if (has_failed && !is_new && !known.has_failed) ++failed_pods_;
  known = {{}, nullptr, VersionOf(child), has_failed};
  if (kind != ChildKind::kPodGroup) ProjectFiled(child);
  if (entry.children.size() > kFewChildren) {
    known.object = std::make_shared<const text::Json>(std::move(child));
  } else {
    known.packed = ObjectPacking().Pack(text::ToJson(child));
  }
  return key;
}

std::string JobCache::RemoveChild(ChildKind kind, const text::Json& child) {
  const std::lock_guard lock(mutex_);
  std::string key = OwnerKey(kind, child);
  const auto entry = key.empty() ? entries_.end() : entries_.find(key);
  if (entry == entries_.end() || entry->second.is_settled()) return "";
  const ChildName name(kind, NameOf(child));
  entry->second.has_lost_children = true;
  auto& deletions = entry->second.deleted_at;
  if (deletions == nullptr) deletions = std::make_unique<Deletions>();
  uint64_t& deleted_at = (*deletions)[name];
  deleted_at = std::max(deleted_at, VersionOf(child));
  auto& children = entry->second.children;
  const auto known = children.find(name);
  if (known != children.end() && known->second.version <= VersionOf(child)) {
    children.erase(known);
  }
  DropIfEmptyLocked(key);
  return key;
}

void JobCache::DropIfEmptyLocked(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  if (!entry.has_job() && !entry.is_settled() && entry.children.empty()) entries_.erase(found);
}

std::vector<std::string> JobCache::KeepJobs(const std::vector<text::Json>& keys) {
  const std::unordered_set<std::string_view> listed = Texts(keys);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> gone = std::exchange(replaced_, {});
  std::vector<std::string> touched;
  for (auto& [key, entry] : entries_) {
    if (listed.contains(key)) continue;
    if (!entry.uid.empty()) gone.push_back(entry.uid);
    entry.ForgetJob();
    touched.push_back(key);
  }
  for (const std::string& key : touched) DropIfEmptyLocked(key);
  return gone;
}

std::vector<std::string> JobCache::KeepChildren(ChildKind kind,
                                                const std::vector<text::Json>& keys) {
  const std::unordered_set<std::string_view> listed = Texts(keys);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> touched;
  for (auto& [key, entry] : entries_) {
    const size_t erased = std::erase_if(entry.children, [&, &owner = key](const auto& known) {
      const auto& [of_kind, name] = known.first;
      return of_kind == kind && !listed.contains(KeyOfChild(owner, name));
    });
    if (erased == 0) continue;
    entry.has_lost_children = true;
    touched.push_back(key);
  }
  for (const std::string& key : touched) DropIfEmptyLocked(key);
  return touched;
}

bool JobCache::IsThere(const std::string& key, std::string_view uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.uid == uid;
}

std::optional<JobCache::Snapshot> JobCache::Get(const std::string& key) const {
  Snapshot snapshot;
  std::string job;
  std::vector<std::pair<ChildKind, Child>> children;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || !found->second.has_job()) return std::nullopt;
    job = found->second.job;
    snapshot.has_forgotten = found->second.has_forgotten;
    snapshot.has_lost_children = found->second.has_lost_children;
    children.reserve(found->second.children.size());
    for (const auto& [name, child] : found->second.children) {
      children.emplace_back(name.first, child);
    }
  }
  auto read = text::ParseJson(ObjectPacking().Unpack(job));
  if (!read) return std::nullopt;
  snapshot.job = std::make_shared<const text::Json>(std::move(*read));
  for (const auto& [kind, child] : children) {
    auto& to = kind == ChildKind::kPod       ? snapshot.pods
               : kind == ChildKind::kService ? snapshot.services
                                             : snapshot.pod_groups;
    to.push_back(child.Value());
  }
  return snapshot;
}

void JobCache::Settle(const std::string& key, const text::Json& job) {
  const std::string uid = UidOfJob(job);
  const uint64_t version = VersionOf(job);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.has_job()) return;
  if (found->second.uid != uid || found->second.job_version > version) return;
  std::exchange(found->second, {});  // frees the capacity of its texts too
  found->second.uid = uid;
  found->second.job_version = version;
  found->second.has_forgotten = true;
}

void JobCache::Recall(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found != entries_.end()) found->second.has_forgotten = false;
}

std::vector<std::string> JobCache::KeysOfUnfinished() const {
  std::vector<std::pair<std::string, std::string>> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) {
      if (entry.has_job()) jobs.emplace_back(key, entry.job);
    }
  }
  std::vector<std::string> keys;
  for (auto& [key, packed] : jobs) {
    const auto job = text::ParseJson(ObjectPacking().Unpack(packed));
    if (job && !api::IsJobFinished(*job)) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<std::string> JobCache::KeysOnNode(std::string_view node) const {
  const auto is_on_node = [node](const auto& named) {
    const auto& [name, child] = named;
    if (name.first != ChildKind::kPod) return false;
    // Parses only the few that may matter.
    if (child.object == nullptr &&
        ObjectPacking().Unpack(child.packed).find(node) == std::string::npos) {
      return false;
    }
    return api::NodeName(*child.Value()) == node;
  };
  const std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) {
    if (std::any_of(entry.children.begin(), entry.children.end(), is_on_node)) keys.push_back(key);
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
