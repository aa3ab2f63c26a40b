// What the controller knows of jobs and their children, indexed by job. Holds only jobs with work
// left: a settled job costs its name. Jobs and children are held as packed text; from it Get makes
// values: ten thousand wait, and few are looked at. Only a job that has many children is spared
// reading them at each look.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/json.h"

namespace controller {

using ObjectPtr = std::shared_ptr<const text::Json>;

enum class ChildKind { kPod, kService, kPodGroup };

// "<namespace>/<name>" of a job.
std::string JobKey(const text::Json& job);
// Key of the job that a child belongs to, by label, a PodGroup by its controller; "" when it has
// none.
std::string OwnerKey(ChildKind kind, const text::Json& child);

// OwnerKey and the child's name; "" when it belongs to no job.
std::string ChildKey(ChildKind kind, const text::Json& child);

// Thread safe. Versions are compared as the numbers that every API server of today uses; older news
// than what is known is ignored, so that watch events and answers to own writes may come in any
// order.
class JobCache {
 public:
  struct Snapshot {
    ObjectPtr job;
    std::vector<ObjectPtr> pods;
    std::vector<ObjectPtr> services;
    std::vector<ObjectPtr> pod_groups;
    // The job was settled and has changed since: older children are not among these.
    bool has_forgotten = false;
  };

  // Return the key to look at; "" when there is nothing to do. Jobs may be packed (projection.h).
  std::string PutJob(text::Json job);
  std::string RemoveJob(const text::Json& job);
  std::string PutChild(ChildKind kind, text::Json child);
  std::string RemoveChild(ChildKind kind, const text::Json& child);

  // After each of a full list was put: what is not among these (JSON strings: JobKey, ChildKey) is
  // gone. KeepChildren returns every key to look at.
  void KeepJobs(const std::vector<text::Json>& keys);
  std::vector<std::string> KeepChildren(ChildKind kind, const std::vector<text::Json>& keys);

  // Nullopt when the job is unknown or settled.
  std::optional<Snapshot> Get(const std::string& key) const;

  // Forgets everything but which job it is, and in which version: a newer one of it is looked at
  // again, as somebody may have given it a time to live. Nothing when a newer one is known already.
  void Settle(const std::string& key, const text::Json& job);

  // The children that had been forgotten were put again.
  void Recall(const std::string& key);

  // Of the jobs that have a pod on that node.
  std::vector<std::string> KeysOnNode(std::string_view node) const;

  size_t ActiveJobs() const;
  // Pods that were seen to become Failed.
  int64_t FailedPods() const;

 private:
  struct Child {
    std::string packed;  // or
    ObjectPtr object;
    uint64_t version = 0;
    bool has_failed = false;  // of a pod
    ObjectPtr Value() const;
  };
  using ChildName = std::pair<ChildKind, std::string>;
  using Deletions = std::map<ChildName, uint64_t>;
  struct Entry {
    std::string uid;  // of the job; "" is none
    std::string job;  // packed; "" is none, or a settled one
    uint64_t job_version = 0;
    std::map<ChildName, Child> children;
    // Newest version at which a child was seen deleted; null: none was.
    std::unique_ptr<Deletions> deleted_at;
    bool has_forgotten = false;
    bool has_job() const { return !job.empty(); }
    bool is_settled() const { return job.empty() && !uid.empty(); }
    void ForgetJob();
  };

  void DropIfEmptyLocked(const std::string& key);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  int64_t failed_pods_ = 0;
};

}  // namespace controller
