// The loop that feeds the reconciler and carries out what it says. The same on Kubernetes and in
// the embedded cluster.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "controller/event_recorder.h"
#include "controller/job_cache.h"
#include "controller/work_queue.h"
#include "reconcile/reconcile.h"

namespace controller {

struct Options {
  reconcile::Options reconcile;
  std::string namespace_name;  // "" is all
  int workers = 1;
  // Port of a job's rank 0 where the cluster assigns one per job; `existing` is what the job's pods
  // carry already. Called from worker threads before pods are made.
  std::function<base::Result<int>(const std::string& job_uid, std::optional<int> existing)>
      assign_master_port;
  // The job needs its port no longer (finished or deleted).
  std::function<void(const std::string& job_uid)> release_master_port;
  // The job's object is gone.
  std::function<void(const std::string& job_uid)> job_deleted;
};

// Totals since the start, by reconcile::Counter.
struct Counters {
  std::atomic<int64_t> created{0}, deleted{0}, succeeded{0}, failed{0}, restarted{0};
};

class Controller {
 public:
  // Starts its threads. `client` and `clock` outlive it.
  Controller(cluster::Client& client, base::Clock& clock, Options options);
  ~Controller();  // stops and joins; what was decided and not yet written is decided again later

  const Counters& counters() const { return counters_; }
  // The first lists are complete: jobs are worked on.
  bool HasLists() const { return lists_missing_ == 0; }

 private:
  void Enqueue(const std::string& key);
  void Work();
  base::Status ReconcileOne(const std::string& key);
  base::Status CarryOut(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                        std::optional<int> master_port);
  base::Status WriteStatus(const text::Json& job, text::Json status);
  // Puts on record why a job failed, while the pods that tell it are there.
  base::Status RecordFailure(const JobCache::Snapshot& snapshot, const text::Json& status);
  void CountUp(const reconcile::Plan& plan);
  base::Result<std::optional<int>> MasterPort(const JobCache::Snapshot& snapshot);
  std::unique_ptr<cluster::Reflector> ReflectJobs();
  std::unique_ptr<cluster::Reflector> ReflectChildren(ChildKind kind);

  cluster::Client& client_;
  base::Clock& clock_;
  const Options options_;
  JobCache cache_;
  WorkQueue queue_;
  EventRecorder events_;
  Counters counters_;
  // The first lists: reconciling on half of them would create what exists.
  std::atomic<int> lists_missing_{3};
  std::vector<std::unique_ptr<cluster::Reflector>> reflectors_;
  std::vector<std::thread> workers_;
};

}  // namespace controller
