// Reconciles one job after another: reads what the cache knows, computes a plan and writes it. Has
// no thread of its own; its driver feeds it watch events and calls it.
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
  std::string namespace_name;  // "": all namespaces
  int workers = 1;
  // Where events are written; null: through the same client.
  cluster::Client* event_client = nullptr;
  // Similar events about one job are merged, and each changed condition of a job is logged.
  bool is_operator = false;
  Metrics* metrics = nullptr;  // borrowed; null: nothing is counted
  // Assigns the port of a job's rank 0 where the cluster assigns one for each job; `existing` is
  // the port that the job's pods carry already, and `wanted` the one that its template declares.
  // Called from worker threads before pods are created.
  std::function<base::Result<int>(const std::string& job_uid, std::optional<int> existing,
                                  std::optional<int> wanted)>
      assign_master_port;
  // The job no longer needs its port (finished or deleted).
  std::function<void(const std::string& job_uid)> release_master_port;
  // The API server was restored from an older backup: the cached state is invalid, and a new
  // controller has to replace this one. Called from any thread; must not block.
  std::function<void()> history_lost;
  // A job says what happens to pods when their node dies: nodes have to be watched from now on.
  // Called from worker threads, more than once.
  std::function<void()> needs_nodes;
  // The job's object has been deleted.
  std::function<void(const std::string& job_uid)> job_deleted;
};

// Thread safe. Each job is worked on by one caller at a time.
class JobWorker {
 public:
  using EventSink = std::function<void(const text::Json& job, const reconcile::Event& event)>;

  // `client`, `clock` and `options` outlive it.
  JobWorker(cluster::Client& client, base::Clock& clock, const Options& options, EventSink events);

  // Watch events. The objects are projected already (projection.h).
  void TakeJob(cluster::WatchEvent event);
  void TakeChild(ChildKind kind, cluster::WatchEvent event);
  // A full list: put each of its objects, then call this with their keys (job_cache.h).
  void PutJob(text::Json job);
  void PutChild(ChildKind kind, text::Json child);
  void KeepJobs(const std::vector<text::Json>& keys);
  void KeepChildren(ChildKind kind, const std::vector<text::Json>& keys);
  void ReplacePriorities(const std::vector<text::Json>& classes);
  void TakePriority(const cluster::WatchEvent& event);
  void ReplaceNodes(const std::vector<text::Json>& nodes);
  void TakeNode(const cluster::WatchEvent& event);

  // To be called once, before the first job is reconciled: finds out which jobs have an autoscaler,
  // wanted or not. Blocks.
  void LearnAutoscalers();

  // To be called once, after all jobs and pods were put and before the first job is reconciled:
  // assigns the ports that stored pods have to their jobs, so that no other job gets one of them.
  void KeepPorts();

  // Waits for a job and reconciles it. False once stopped.
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
  // When the kubelet of an Unknown node last renewed its Lease; `unknown_since` when that cannot be
  // found out. Asks the API server for nodes that were not lost before.
  base::Time LastHeard(const std::string& node, base::Time unknown_since);
  void SetLost(const std::string& node, std::optional<base::Time> since);
  void WorkOn(const std::string& key, base::Duration waited);
  // `has_more`: the plan was incomplete.
  base::Status ReconcileOne(const std::string& key, base::Duration waited, base::Duration& rest,
                            bool& has_more);
  reconcile::Plan MakePlan(const JobCache::Snapshot& snapshot, std::optional<int> master_port,
                           const std::optional<text::Json>& autoscaler,
                           std::vector<reconcile::Awaited> awaited);
  // Writes the children and then the status of the plan; the status also when children failed. With
  // `may_status_wait` and no failure, leaves the status to the next reconciliation.
  base::Status ApplyPlan(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                         std::optional<int> master_port, bool may_status_wait);
  // Returns the first failure. Fills `events` with the events of the writes, and `refusal` with the
  // API server's answer to the first child that it refused; "" when it refused none.
  base::Status WriteChildren(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                             std::optional<int> master_port, std::vector<reconcile::Event>& events,
                             std::string& refusal);
  // Puts the refusal into the message of Created (api::kRefusedMark), or removes it.
  void RecordRefusal(const text::Json& job, const std::string& refusal,
                     reconcile::Plan& plan) const;
  // Handles the answer to one write: updates the cache, the counters and `events`.
  base::Status TakeAnswer(const JobCache::Snapshot& snapshot, const reconcile::Write& write,
                          base::Result<text::Json> answer, std::vector<reconcile::Event>& events);
  // Handles the creation of a child that exists already. Returns true when it is our own, created
  // by a reconciliation whose answer was lost.
  bool Adopt(const JobCache::Snapshot& snapshot, const reconcile::Write& write, bool& is_going);
  bool MayStatusWait(const JobCache::Snapshot& snapshot) const;
  // Whether the status may be written a moment later, together with what changes until then; the
  // job is reconciled again in time.
  bool MayCountsWait(const text::Json& job, const text::Json& status);
  // `is_news`: reconcile the job again at once.
  base::Status WriteStatus(const text::Json& job, const text::Json& status, bool is_news);
  // Records why a job failed, while the pods that show it still exist.
  base::Status RecordFailure(const JobCache::Snapshot& snapshot, const text::Json& status);
  // Logs a line for each condition that has changed.
  void LogConditions(const text::Json& job, const text::Json& status) const;
  void RecordEvents(const text::Json& job, std::vector<reconcile::Event> events);
  void RememberTroubles(const std::string& job_uid, const std::set<size_t>& troubles);
  void CountWrite(const reconcile::Write& write, bool is_success);
  void CountPlan(const JobCache::Snapshot& snapshot, const reconcile::Plan& plan);
  // Nullopt when the job does not exist or has no work left.
  base::Result<std::optional<JobCache::Snapshot>> LookUp(const std::string& key);
  // kConflict: the job is gone or being deleted, which the watch has not reported yet. Objects
  // created for it would be collected at once, then be missed and created again, until the watch
  // reports it. Asks the API server unless the job is new: no status, and no children that are
  // gone.
  base::Status CheckIsThere(const JobCache::Snapshot& snapshot);
  base::Status RecallChildren(const std::string& key, const text::Json& job);
  base::Result<std::optional<int>> MasterPort(const JobCache::Snapshot& snapshot);
  base::Result<std::optional<text::Json>> FindAutoscaler(const text::Json& job);
  // The state of the jobs that this one waits for. It is reconciled again when one of them ends or
  // goes.
  base::Result<std::vector<reconcile::Awaited>> FindAwaited(const std::string& key,
                                                            const text::Json& job);
  // For a job that the API server no longer has, or whose name belongs to another: the embedded
  // cluster's record of it.
  base::Result<text::Json> Remembered(const std::string& uid);
  // Releases what a deleted job holds: its port, and what other parts hold for it.
  void LetGo(const std::string& uid);
  // The same after work on a job that may have been deleted meanwhile: what it has been given since
  // then, such as its port, nobody else gives back.
  void LetGoIfGone(const std::string& key, const text::Json& job);
  // Queues the jobs that wait for this one.
  void WakeWaiting(const std::string& key);

  cluster::Client& client_;
  base::Clock& clock_;
  const Options& options_;
  const EventSink events_;
  JobCache cache_;
  WorkQueue queue_;
  base::Guarded<std::map<std::string, int32_t>> priorities_;     // of PriorityClasses, by name
  base::Guarded<std::map<std::string, base::Time>> lost_nodes_;  // since when, by node
  // By the job's uid: troubles of its pods that have been announced (Observed::announced).
  base::Guarded<std::map<std::string, std::set<size_t>>> announced_;
  base::Guarded<std::set<std::string>> autoscaled_;  // uids of jobs that have one
  // Since when a change of counts has waited, by key.
  base::Guarded<std::map<std::string, std::chrono::steady_clock::time_point>> counts_wait_;
  // Keys of the jobs that wait, by the key of the one that they wait for.
  base::Guarded<std::map<std::string, std::set<std::string>>> waiting_;
  base::Guarded<std::set<std::string>> complained_;  // keys whose last reconciliation failed
};

// Selects the operator's children of one kind, and which parts of them are kept.
cluster::ListOptions ListOfChildren(ChildKind kind);

}  // namespace controller
