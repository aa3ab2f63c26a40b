// One pass after another: from what is known of a job to what is written about it. Has no thread
// of its own; its driver tells it the news and calls it to work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "cluster/client.h"
#include "controller/loop/job_cache.h"
#include "controller/loop/metrics.h"
#include "controller/loop/work_queue.h"
#include "reconcile/reconcile.h"

namespace controller {

struct Options {
  reconcile::Options reconcile;
  std::string namespace_name;  // "" is all
  int workers = 1;
  // Where events go; null: where everything goes.
  cluster::Client* event_client = nullptr;
  // Events of one kind on one job are told as one, and the log gets a line for each of a job's
  // conditions.
  bool is_operator = false;
  Metrics* metrics = nullptr;  // borrowed; null counts nothing
  // Port of a job's rank 0 where the cluster assigns one per job; `existing` is what the job's pods
  // carry already. Called from worker threads before pods are made.
  std::function<base::Result<int>(const std::string& job_uid, std::optional<int> existing)>
      assign_master_port;
  // The job needs its port no longer (finished or deleted).
  std::function<void(const std::string& job_uid)> release_master_port;
  // The API server was restored from an older copy: nothing that is known holds any more, and this
  // controller is to be replaced by a new one. From any thread; must not block.
  std::function<void()> history_lost;
  // A job asks for what becomes of pods when their node dies: nodes are to be watched from now on.
  // Called from worker threads, more than once.
  std::function<void()> needs_nodes;
  // The job's object is gone.
  std::function<void(const std::string& job_uid)> job_deleted;
};

// Thread safe. A job is worked on by one caller at a time.
class JobWorker {
 public:
  using EventSink = std::function<void(const text::Json& job, const reconcile::Event& event)>;

  // `client`, `clock` and `options` outlive it.
  JobWorker(cluster::Client& client, base::Clock& clock, const Options& options, EventSink events);

  // News. Objects are projected already (projection.h).
  void TakeJob(cluster::WatchEvent event);
  void TakeChild(ChildKind kind, cluster::WatchEvent event);
  // A full list: each of it, then their keys (job_cache.h).
  void PutJob(text::Json job);
  void PutChild(ChildKind kind, text::Json child);
  void KeepJobs(const std::vector<text::Json>& keys);
  void KeepChildren(ChildKind kind, const std::vector<text::Json>& keys);
  void ReplacePriorities(const std::vector<text::Json>& classes);
  void TakePriority(const cluster::WatchEvent& event);
  void ReplaceNodes(const std::vector<text::Json>& nodes);
  void TakeNode(const cluster::WatchEvent& event);

  // Once, before the first look: which jobs have an autoscaler, wanted or not. Blocks.
  void LearnAutoscalers();

  // Waits for a job to look at, and looks. False once stopped.
  bool WorkOne();
  // The same without waiting. False when no job is due.
  bool WorkOneNow();
  void Stop() { queue_.Stop(); }

  WorkQueue::View LookAtQueue() const { return queue_.Look(); }
  size_t ActiveJobs() const { return cache_.ActiveJobs(); }
  int64_t FailedPods() const { return cache_.FailedPods(); }

 private:
  void Enqueue(const std::string& key);
  void HearOfNode(const std::string& name, const text::Json& node);
  // When the kubelet of a node that is Unknown last renewed its Lease; `unknown_since` when that
  // cannot be told. Asks the API server for a node that was not lost before.
  base::Time LastHeard(const std::string& node, base::Time unknown_since);
  void SetLost(const std::string& node, std::optional<base::Time> since);
  void WorkOn(const std::string& key, base::Duration waited);
  // `has_more`: the plan was a part.
  base::Status ReconcileOne(const std::string& key, base::Duration waited, base::Duration& rest,
                            bool& has_more);
  reconcile::Plan MakePlan(const JobCache::Snapshot& snapshot, std::optional<int> master_port,
                           const std::optional<text::Json>& autoscaler);
  // Writes what the plan says: children, then the status, also when children failed. With
  // `may_status_wait` it is left to the next pass when none did.
  base::Status ApplyPlan(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                         std::optional<int> master_port, bool may_status_wait);
  // The first failure. `events` gets the writes' own, `refusal` what the API server said to the
  // first child that it will not have; "" when it has them all.
  base::Status WriteChildren(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                             std::optional<int> master_port, std::vector<reconcile::Event>& events,
                             std::string& refusal);
  // Says so in the message of Created (api::kRefusedMark), or no longer.
  void RecordRefusal(const text::Json& job, const std::string& refusal,
                     reconcile::Plan& plan) const;
  // One write's answer: into the cache, the counters and `events`.
  base::Status TakeAnswer(const JobCache::Snapshot& snapshot, const reconcile::Write& write,
                          base::Result<text::Json> answer, std::vector<reconcile::Event>& events);
  // A child to be made that exists: our own, of a pass whose answer was lost, is taken as made.
  bool Adopt(const JobCache::Snapshot& snapshot, const reconcile::Write& write, bool& is_going);
  bool MayStatusWait(const JobCache::Snapshot& snapshot) const;
  // Whether that status may be written a moment later, with what is new by then; the job is looked
  // at again in time.
  bool MayCountsWait(const text::Json& job, const text::Json& status);
  // `is_news`: the job is to be looked at again at once.
  base::Status WriteStatus(const text::Json& job, const text::Json& status, bool is_news);
  // Puts on record why a job failed, while the pods that tell it are there.
  base::Status RecordFailure(const JobCache::Snapshot& snapshot, const text::Json& status);
  // A line for each condition that is not what it was.
  void LogConditions(const text::Json& job, const text::Json& status) const;
  void Tell(const text::Json& job, std::vector<reconcile::Event> events);
  void CountWrite(const reconcile::Write& write, bool is_success);
  void CountPlan(const JobCache::Snapshot& snapshot, const reconcile::Plan& plan);
  // Nullopt when there is no such job with work left.
  base::Result<std::optional<JobCache::Snapshot>> LookUp(const std::string& key);
  base::Status RecallChildren(const std::string& key, const text::Json& job);
  base::Result<std::optional<int>> MasterPort(const JobCache::Snapshot& snapshot);
  base::Result<std::optional<text::Json>> FindAutoscaler(const text::Json& job);

  cluster::Client& client_;
  base::Clock& clock_;
  const Options& options_;
  const EventSink events_;
  JobCache cache_;
  WorkQueue queue_;
  base::Guarded<std::map<std::string, int32_t>> priorities_;     // of PriorityClasses, by name
  base::Guarded<std::map<std::string, base::Time>> lost_nodes_;  // since when
  base::Guarded<std::set<std::string>> autoscaled_;              // uids of jobs that have one
  // Since when counts wait, by key.
  base::Guarded<std::map<std::string, std::chrono::steady_clock::time_point>> counts_wait_;
  base::Guarded<std::set<std::string>> complained_;  // keys whose passes fail
};

// Of the operator's children of one kind: which they are, and what is kept of them.
cluster::ListOptions ListOfChildren(ChildKind kind);

}  // namespace controller
