// JobWatch: one job and its pods as they are now, kept up to date by watches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "cluster/client.h"
#include "cluster/reflector.h"

namespace arena {

// A wait for something to happen is interrupted that often to see whether the server is there.
inline constexpr std::chrono::seconds kProbeInterval{20};

// Driven by two reflectors' threads; Wait from one thread. Borrows the client.
class JobWatch {
 public:
  struct Snapshot {
    std::optional<text::Json> job;
    std::map<std::string, text::Json> pods;  // by name
    bool is_job_known = false;               // the first list has come
    bool are_pods_known = false;
    std::optional<base::Error> refusal;
  };

  JobWatch(cluster::Client& client, const std::string& namespace_name, const std::string& job,
           const std::string& pod_selector);

  // Blocks until `done` holds of what exists, both lists having come; false when `timeout` ran out
  // before, or the server refuses to be watched. `done` runs under the lock: it looks, and does
  // nothing else.
  bool Wait(std::chrono::milliseconds timeout, const std::function<bool(const Snapshot&)>& done);

  // Why the server refuses: for callers that wait in a loop, to end it.
  base::Status Refusal();

  // From any thread: Wait looks again, for something else than the job or its pods.
  void Wake();

 private:
  void Refuse(const base::Error& error);
  void ReplaceJob(std::vector<text::Json> items);
  void ReplacePods(std::vector<text::Json> items);
  void ApplyJob(cluster::WatchEvent event);
  void ApplyPod(cluster::WatchEvent event);

  base::Guarded<Snapshot> snapshot_;
  std::condition_variable changed_;
  std::string job_name_;
  // Last, so that their threads end first.
  std::unique_ptr<cluster::Reflector> jobs_;
  std::unique_ptr<cluster::Reflector> pods_;
};

// Probes without an answer, one after another, at which a wait is given up: an API server that
// restarts is back sooner.
inline constexpr int kMaxMisses = 6;

// For callers that wait in a loop: whether there is still something to wait for.
class JobProbe {
 public:
  JobProbe(cluster::Client& client, std::string namespace_name, std::string job)
      : client_(client), namespace_name_(std::move(namespace_name)), job_(std::move(job)) {}

  // An error when `watch` is refused, or the server does not answer for the kMaxMisses-th time; the
  // first time is logged. That the job is gone is none.
  base::Status Look(JobWatch& watch);

 private:
  cluster::Client& client_;
  const std::string namespace_name_;
  const std::string job_;
  int misses_ = 0;
};

}  // namespace arena
