// The controller's cache of jobs and their children, indexed by job. It holds only jobs with work
// left: of a settled job it keeps no more than the name. Jobs and children are stored as packed
// text, which Get parses: ten thousand may wait, and few are looked at. Only jobs with many
// children keep them parsed, so that they are not parsed again each time.
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
// Key of the job that a child belongs to, by its label, or by its controller for a PodGroup; ""
// when it belongs to no job.
std::string OwnerKey(ChildKind kind, const text::Json& child);

// OwnerKey and the child's name; "" when it belongs to no job.
std::string ChildKey(ChildKind kind, const text::Json& child);

// Thread safe. Versions are compared as numbers, which all current API servers use. News older than
// the cached state is ignored, so watch events and answers to our own writes may come in any order.
class JobCache {
 public:
  struct Snapshot {
    ObjectPtr job;
    std::vector<ObjectPtr> pods;
    std::vector<ObjectPtr> services;
    std::vector<ObjectPtr> pod_groups;
    // The job was settled and has changed since: the children cached before are missing here.
    bool has_forgotten = false;
    // Some of its children were seen, and are gone.
    bool has_lost_children = false;
  };

  // Each returns the key to reconcile; "" when there is nothing to do. Jobs may be packed
  // (projection.h).
  std::string PutJob(text::Json job);
  // Like PutJob, for the answer to a write of ours: the job may have been deleted by now.
  std::string PutAnswer(text::Json job);
  std::string RemoveJob(const text::Json& job);
  std::string PutChild(ChildKind kind, text::Json child);
  std::string RemoveChild(ChildKind kind, const text::Json& child);

  // To be called after each object of a full list was put: removes what is not among `keys` (JSON
  // strings that JobKey or ChildKey made). KeepJobs returns the uids of the jobs that are gone,
  // also of the ones whose name another job has now; KeepChildren returns every key to reconcile.
  std::vector<std::string> KeepJobs(const std::vector<text::Json>& keys);
  std::vector<std::string> KeepChildren(ChildKind kind, const std::vector<text::Json>& keys);

  // Whether the job of that name is the one with this uid, settled or not.
  bool IsThere(const std::string& key, std::string_view uid) const;
  // Nullopt when the job is unknown or settled.
  std::optional<Snapshot> Get(const std::string& key) const;

  // Forgets everything of the job except its identity and version. A newer version of it is
  // reconciled again, because somebody may have set a TTL. Does nothing when a newer version is
  // known already.
  void Settle(const std::string& key, const text::Json& job);

  // Call it once the forgotten children have been put again.
  void Recall(const std::string& key);

  // The keys of the jobs that have not ended.
  std::vector<std::string> KeysOfUnfinished() const;
  // The keys of the jobs that have a pod on that node.
  std::vector<std::string> KeysOnNode(std::string_view node) const;

  size_t ActiveJobs() const;
  // How many pods were seen to become Failed.
  int64_t FailedPods() const;

 private:
  struct Child {
    std::string packed;  // or
    ObjectPtr object;
    uint64_t version = 0;
    bool has_failed = false;  // a pod has failed
    ObjectPtr Value() const;
  };
  using ChildName = std::pair<ChildKind, std::string>;
  using Deletions = std::map<ChildName, uint64_t>;
  struct Entry {
    std::string uid;  // of the job; "": none
    std::string job;  // packed; "": none, or a settled job
    uint64_t job_version = 0;
    std::map<ChildName, Child> children;
    // The newest version at which a child was seen deleted; null: none was.
    std::unique_ptr<Deletions> deleted_at;
    bool has_forgotten = false, has_lost_children = false;
    bool has_job() const { return !job.empty(); }
    bool is_settled() const { return job.empty() && !uid.empty(); }
    void ForgetJob();
  };

  std::string PutLocked(text::Json job);
  void DropIfEmptyLocked(const std::string& key);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::string> replaced_;  // uids, since the last list
  int64_t failed_pods_ = 0;
};

}  // namespace controller
